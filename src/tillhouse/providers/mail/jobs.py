"""Mails as jobs: queued in the transaction of their cause, written when they are sent.

A mail is sent at least once: a worker that dies between the server's word and ours sends it again,
under the same Message-ID.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial

import msgspec
import structlog

from tillhouse.access import attempts
from tillhouse.access.attempt_rules import Budget
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, OutsideKind, Retry
from tillhouse.kit.partial import facts_of
from tillhouse.providers.mail import smtp
from tillhouse.providers.mail.text import Mail, compose

# About three days in all.
RETRY = Retry(attempts_max=20, base=timedelta(minutes=1), most=timedelta(hours=6))
# The time of a mail, and some for recording the result.
_LEASE = timedelta(seconds=smtp.WITHIN_S * 1.25)
_AT_ONCE = 4
# In any 24 hours a cell lets through its burst, and as many as are refilled meanwhile: a mailbox
# gets 20, whatever business has the address, and registrations in mass send no more than 2,000.
MAILBOX_A_DAY = Budget(burst=10, every=timedelta(days=1) / 10)
HOUSE_A_DAY = Budget(burst=1000, every=timedelta(days=1) / 1000)
# The beginning of the cells of a mailbox, and the cell of all mails of the installation.
HOUSE = "notices"
# Anybody may ask for these, for any address: they count apart, so that none of them keeps back the
# notice that a password was changed.
LINKS = "password links"

log = structlog.get_logger()


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a mail to one person."""

    recipient: str
    subject: str
    text: str
    at: datetime
    # Further cells in which it counts: (subject, how many of them).
    counted: tuple[tuple[str, Budget], ...] = ()
    # The cells of its mailbox and of the installation that it counts in.
    house: str = HOUSE
    # Writes the rows of the mail, in the transaction in which it is begun; not for one that is
    # left out because there were too many.
    keep: Callable[[Db], Awaitable[None]] | None = None


# The letter as it is to be sent now, of a job; None when there is nothing to tell any more.
Writes = Callable[[Db, Job], Awaitable[Letter | None]]


def mail_kind(
    services: Services, name: str, write: Writes, within_s: float = smtp.WITHIN_S
) -> OutsideKind:
    """The job of mailing something to one person."""
    return OutsideKind(
        name=name,
        begin=partial(_begin, services, write),
        run=partial(_send, services, within_s),
        record=_record,
        retry=RETRY,
        lease=_LEASE,
        at_once=_AT_ONCE,
    )


def is_set(services: Services) -> bool:
    """Whether the installation sends mails at all."""
    return services.settings.smtp_url is not None and services.settings.mail_from is not None


def mailbox_of(email: str) -> str:
    """The box that an address most likely leads to: `v+1@x` and `V+2@x` are `v@x`."""
    local, _, domain = email.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


async def _begin(services: Services, write: Writes, db: Db, job: Job) -> smtp.Envelope | None:
    """The mail, written from the present rows; None when there is nothing to tell any more."""
    sender = services.settings.mail_from
    if services.settings.smtp_url is None or sender is None:
        return None
    letter = await write(db, job)
    if letter is None:
        return None
    if job.attempts == 0 and not await _may_be_sent(services, db, letter):
        log.info("mail_dropped", kind=job.kind, subject=str(job.subject_id))
        return None
    if letter.keep is not None:
        await letter.keep(db)
    mail = facts_of(Mail, letter, id=f"notice-{job.id}", sender=sender)
    return smtp.Envelope(sender, letter.recipient, compose(mail))


async def _may_be_sent(services: Services, db: Db, letter: Letter) -> bool:
    """Count the mail where there may be only so many."""
    mailbox = mailbox_of(letter.recipient)
    general = ((f"{letter.house} to {mailbox}", MAILBOX_A_DAY), (letter.house, HOUSE_A_DAY))
    for subject, budget in (*letter.counted, *general):
        if not await attempts.take(services, db, subject, budget):
            return False
    return True


async def _send(
    services: Services, within_s: float, envelope: smtp.Envelope
) -> smtp.MailError | None:
    settings = services.settings
    assert settings.smtp_url is not None, "without one nothing was begun"  # noqa: S101
    try:
        await smtp.send(
            smtp.SmtpRoute(settings.smtp_url, settings.webhook_ca_file, within_s), envelope
        )
    except smtp.MailError as error:
        return error
    return None


async def _record(
    _db: Db, job: Job, _envelope: smtp.Envelope, error: smtp.MailError | None
) -> Again | None:
    if error is None:
        return None
    log.warning(
        "mail_not_sent",
        kind=job.kind,
        job=str(job.id),
        reason=error.reason,
        is_final=error.is_final,
    )
    return None if error.is_final else Again(error.reason)
