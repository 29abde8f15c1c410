"""Notices by mail: each member who may look at an endpoint hears that it fails, or was disabled.

The jobs are queued in the transaction that counts the failure, one for each member, so a notice
exists exactly when what it tells of does. A mail is sent at least once: a worker that dies between
the server's word and ours sends it again, under the same Message-ID.
"""

from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog
from asyncpg import Record

from tillhouse.access import attempts
from tillhouse.access.attempt_rules import Budget
from tillhouse.access.process import Services
from tillhouse.access.roles import MANAGE_DEVELOPER_KEYS, roles_with
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, OutsideKind, Retry
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import BookId, EndpointId
from tillhouse.kit.json import encode
from tillhouse.providers.mail import smtp
from tillhouse.providers.mail.text import Mail, compose
from tillhouse.webhooks import notice_text
from tillhouse.webhooks.notice_text import NotedEndpoint, Notice
from tillhouse.webhooks.store import notices as store

NOTICE = "webhook_notice"
RECIPIENTS_MAX = 20
# About three days in all.
RETRY = Retry(attempts_max=20, base=timedelta(minutes=1), most=timedelta(hours=6))
# The time of a mail, and some for recording what came of it.
_LEASE = timedelta(seconds=smtp.WITHIN_S * 1.25)
_AT_ONCE = 4
# In any 24 hours a cell lets through its burst, and as many as are refilled meanwhile. An endpoint
# that comes and goes is told of once; a mailbox gets 20, whatever business has the address, and
# however many endpoints; and registrations in mass send no more than 2,000.
_FAILING_A_DAY = Budget(burst=1, every=timedelta(days=1))
MAILBOX_A_DAY = Budget(burst=10, every=timedelta(days=1) / 10)
HOUSE_A_DAY = Budget(burst=1000, every=timedelta(days=1) / 1000)
# The cell of all notices of the installation.
HOUSE = "notices"

_ROLES = roles_with(MANAGE_DEVELOPER_KEYS)

log = structlog.get_logger()


async def queue(db: Db, row: Record, error: str, at: datetime) -> None:
    """Queue the mails about an endpoint that is failing, or was disabled, at this moment."""
    notice = Notice(
        is_disabled=row["is_disabled"], at=at, failing_since=row["first_failed_at"], error=error
    )
    word = "disabled" if notice.is_disabled else "failing"
    new = store.NewNotice(
        book_id=BookId(row["book_id"]),
        endpoint_id=EndpointId(row["id"]),
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
    return OutsideKind(
        name=NOTICE,
        begin=partial(_begin, services),
        run=partial(_send, services, within_s),
        record=_record,
        retry=RETRY,
        lease=_LEASE,
        at_once=_AT_ONCE,
    )


async def _begin(services: Services, db: Db, job: Job) -> smtp.Envelope | None:
    """The mail, written from what is true now; None when there is nothing to tell any more."""
    sender = services.settings.mail_from
    notice = msgspec.json.decode(job.payload or b"", type=Notice)
    user_id = UUID(job.key.rpartition(" ")[2])
    endpoint = await store.find_noted(db, job.book_id, job.subject_id, user_id, _ROLES)
    if services.settings.smtp_url is None or sender is None or endpoint is None:
        return None
    if not notice_text.is_current(notice, endpoint):
        return None
    if job.attempts == 0 and not await _may_be_sent(services, db, notice, endpoint):
        log.info("webhook_notice_dropped", endpoint=str(endpoint.id), user=str(user_id))
        return None
    mail = Mail(
        id=f"notice-{job.id}",
        sender=sender,
        recipient=endpoint.email,
        subject=notice_text.subject(notice, endpoint),
        text=notice_text.text(notice, endpoint, services.settings.public_url),
        at=notice.at,
    )
    return smtp.Envelope(sender, endpoint.email, compose(mail))


async def _may_be_sent(services: Services, db: Db, notice: Notice, endpoint: NotedEndpoint) -> bool:
    """Count the notice where there may be only so many."""
    mailbox = mailbox_of(endpoint.email)
    counted = [(f"notices to {mailbox}", MAILBOX_A_DAY), (HOUSE, HOUSE_A_DAY)]
    if not notice.is_disabled:
        counted.insert(0, (f"failing {endpoint.id} to {mailbox}", _FAILING_A_DAY))
    for subject, budget in counted:
        if not await attempts.take(services, db, subject, budget):
            return False
    return True


def mailbox_of(email: str) -> str:
    """The box that an address most likely leads to: `v+1@x` and `V+2@x` are `v@x`."""
    local, _, domain = email.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


async def _send(
    services: Services, within_s: float, envelope: smtp.Envelope
) -> smtp.MailError | None:
    settings = services.settings
    assert settings.smtp_url is not None, "without one nothing was begun"  # noqa: S101
    try:
        await smtp.send(smtp.Route(settings.smtp_url, settings.webhook_ca_file, within_s), envelope)
    except smtp.MailError as error:
        return error
    return None


async def _record(
    _db: Db, job: Job, _envelope: smtp.Envelope, error: smtp.MailError | None
) -> Again | None:
    if error is None:
        return None
    log.warning(
        "webhook_notice_not_sent", job=str(job.id), reason=error.reason, is_final=error.is_final
    )
    return None if error.is_final else Again(error.reason)
