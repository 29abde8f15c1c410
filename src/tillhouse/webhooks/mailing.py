"""Notices by mail: each member who may look at an endpoint hears that it fails, or was disabled.

The jobs are queued in the transaction that counts the failure, one for each member, so a notice
exists exactly when the failure does.
"""

from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.access.attempt_rules import Budget
from tillhouse.access.process import Services
from tillhouse.access.scopes import MANAGE_DEVELOPER_KEYS, roles_with
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, OutsideKind
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import BookId, EndpointId
from tillhouse.kit.json import encode
from tillhouse.providers.mail import smtp
from tillhouse.providers.mail.jobs import Letter, mail_kind, mailbox_of
from tillhouse.webhooks import notice_text
from tillhouse.webhooks.notice_text import Notice
from tillhouse.webhooks.store import notices as store

NOTICE = "webhook_notice"
RECIPIENTS_MAX = 20
# An endpoint that comes and goes is told of once.
_FAILING_A_DAY = Budget(burst=1, every=timedelta(days=1))

_ROLES = roles_with(MANAGE_DEVELOPER_KEYS)


async def queue(db: Db, row: Record, error: str, at: datetime) -> None:
    """Queue the mails about an endpoint that is failing, or was disabled, at this moment."""
    notice = Notice(
        is_disabled=row["is_disabled"], at=at, failing_since=row["first_failed_at"], error=error
    )
    word = "disabled" if notice.is_disabled else "failing"
    new = store.NewNotice(
        book_id=BookId(row["book_id"]),
        subject_id=EndpointId(row["id"]),
        kind=NOTICE,
        roles=_ROLES,
        most=RECIPIENTS_MAX,
        key=f"{word} {iso(notice.failing_since)}",
        payload=encode(notice),
        now=at,
    )
    await store.queue_notices(db, new)


def kind(services: Services, within_s: float = smtp.WITHIN_S) -> OutsideKind:
    """The job of mailing one notice to one member."""
    return mail_kind(services, NOTICE, partial(_write, services), within_s)


async def _write(services: Services, db: Db, job: Job) -> Letter | None:
    """The notice, as long as it is true and its reader may look at the endpoint."""
    notice = msgspec.json.decode(job.payload or b"", type=Notice)
    user_id = UUID(job.key.rpartition(" ")[2])
    endpoint = await store.find_noted(db, job.book_id, job.subject_id, user_id, _ROLES)
    if endpoint is None or not notice_text.is_current(notice, endpoint):
        return None
    failing = (f"failing {endpoint.id} to {mailbox_of(endpoint.email)}", _FAILING_A_DAY)
    return Letter(
        recipient=endpoint.email,
        subject=notice_text.subject(notice, endpoint),
        text=notice_text.text(notice, endpoint, services.settings.public_url),
        at=notice.at,
        counted=() if notice.is_disabled else (failing,),
    )
