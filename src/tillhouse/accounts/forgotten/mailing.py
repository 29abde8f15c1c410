"""The mail with a link that sets another password, made when it is sent."""

from datetime import datetime
from functools import partial
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.accounts.forgotten import rules, store
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import INSTALLATION, Job, NewJob, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.kit.json import encode
from tillhouse.kit.secrets import digest
from tillhouse.providers.mail.jobs import LINKS, Letter, mail_kind

LINK = "password_link"


class LinkRequest(msgspec.Struct, frozen=True):
    """The address that was given, and when."""

    email: str
    at: datetime


async def queue_link(db: Db, email: str, at: datetime) -> None:
    """Queue the mail for an address, which may have no account."""
    payload = encode(LinkRequest(email, at))
    job = NewJob(book_id=INSTALLATION, kind=LINK, subject_id=new_id(), payload=payload)
    await queue_job(db, job, at, at)


def kind(services: Services) -> OutsideKind:
    """The job of mailing one link."""
    return mail_kind(services, LINK, partial(_write, services))


def digest_of(services: Services, token: str) -> bytes:
    """The digest by which a token is known here."""
    return digest(services.vault.pepper, f"password link {token}")


def token_of(services: Services, request_id: UUID) -> str:
    """The token of a request: signed, not kept, and the same when its mail is sent again."""
    return rules.token_text(digest(services.vault.pepper, f"request of a link {request_id}"))


async def _write(services: Services, db: Db, job: Job) -> Letter | None:
    request = msgspec.json.decode(job.payload or b"", type=LinkRequest)
    token = token_of(services, job.subject_id)
    digested = digest_of(services, token)
    person = await store.find_for_address(db, request.email)
    if person is None:
        return None
    facts = rules.LinkFacts(
        digest=person["token_digest"],
        requested_at=person["requested_at"],
        is_used=person["is_used"],
        link_password_at=person["link_password_at"],
        password_changed_at=person["password_changed_at"],
    )
    if not rules.is_to_be_mailed(facts, digested, request.at, now()):
        return None
    row = store.PasswordLinkRow(
        user_id=person["id"],
        token_digest=digested,
        requested_at=request.at,
        expires_at=request.at + rules.LINK_LASTS,
        password_changed_at=person["password_changed_at"],
    )
    lines = (
        "Somebody asked for a new password of your account. Set it here:",
        f"  {services.settings.public_url}/desk/reset/{token}",
        "",
        "The link holds for 30 minutes, and once. A newer one makes it void.",
        "If it wasn't you, there is nothing to do: your password stays as it is.",
        "",
    )
    return Letter(
        recipient=person["email"],
        subject="Set a new password",
        text="\n".join(lines),
        at=request.at,
        house=LINKS,
        # A mail that is left out, of too many, must not void the link of the one before.
        keep=partial(store.upsert_link, row=row),
    )
