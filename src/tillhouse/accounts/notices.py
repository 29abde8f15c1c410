"""Changes of a person's own account: told by mail, and in the audit log of their businesses."""

from datetime import datetime
from functools import partial
from uuid import UUID

import msgspec

from tillhouse.access import audit
from tillhouse.access.process import Services
from tillhouse.accounts import store
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import INSTALLATION, Job, NewJob, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.json import encode
from tillhouse.providers.mail.jobs import Letter, mail_kind

NOTICE = "password_notice"


class PasswordNotice(msgspec.Struct, frozen=True):
    """When the password was changed."""

    at: datetime


async def queue_notice(db: Db, user_id: UserId | UUID, at: datetime) -> None:
    """Queue the mail in the transaction of the change."""
    payload = encode(PasswordNotice(at))
    job = NewJob(
        book_id=INSTALLATION, kind=NOTICE, subject_id=user_id, key=iso(at), payload=payload
    )
    await queue_job(db, job, at, at)


def kind(services: Services) -> OutsideKind:
    """The job of mailing one notice."""
    return mail_kind(services, NOTICE, partial(_write, services))


async def _write(services: Services, db: Db, job: Job) -> Letter | None:
    notice = msgspec.json.decode(job.payload or b"", type=PasswordNotice)
    email = await store.find_email(db, UserId(job.subject_id))
    if email is None:
        return None
    lines = (
        f"The password of your account was changed on {notice.at:%Y-%m-%d at %H:%M} UTC.",
        "Devices that were signed in with the one before are signed out.",
        "",
        "If it wasn't you, set another password at once, and look into your mailbox's security:",
        f"  {services.settings.public_url}/desk/forgot",
        "",
    )
    return Letter(
        recipient=email, subject="Your password was changed", text="\n".join(lines), at=notice.at
    )


async def note_of_person(
    db: Db, user_id: UserId, actor: audit.Actor, what: tuple[str, str], now: datetime
) -> None:
    """Write an event about a person in the transaction of the change that it tells of."""
    for business in await store.list_memberships(db, user_id):
        metadata = {"userId": str(user_id)}
        await audit.append(db, BusinessId(business.id), actor, what, metadata, now)
