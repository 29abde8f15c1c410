"""Mails to the owners when a payment provider of the live book is changed.

A provider of somebody else's would collect the money of the business, so the owners hear of it at
once, by a way that a stolen session doesn't reach.
"""

from datetime import datetime
from functools import partial
from uuid import UUID

import msgspec

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, OutsideKind
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import new_id
from tillhouse.kit.json import encode
from tillhouse.payins.store import connections as store
from tillhouse.providers.mail.jobs import Letter, mail_kind
from tillhouse.providers.mail.text import given_name
from tillhouse.webhooks.store.notices import NewNotice, queue_notices

NOTICE = "payment_provider_notice"
RECIPIENTS_MAX = 20
_OWNERS = ("owner",)


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a provider, as the job of its mail keeps it."""

    provider: str
    verb: str
    is_selected: bool
    by: str
    ip: str
    at: datetime


async def queue(call: Call, provider: str, verb: str, *, is_selected: bool) -> None:
    """Queue a mail to each owner, in the transaction of the change."""
    who = audit.actor(call)
    changed = Changed(
        provider=provider, verb=verb, is_selected=is_selected, by=who.name, ip=who.ip, at=call.now
    )
    new = NewNotice(
        book_id=call.book.id,
        subject_id=call.book.id,
        kind=NOTICE,
        roles=_OWNERS,
        most=RECIPIENTS_MAX,
        key=str(new_id()),
        payload=encode(changed),
        now=call.now,
    )
    await queue_notices(call.db, new)


def kind(services: Services) -> OutsideKind:
    """The job of mailing one change to one owner."""
    return mail_kind(services, NOTICE, partial(_write, services))


async def _write(services: Services, db: Db, job: Job) -> Letter | None:
    changed = msgspec.json.decode(job.payload or b"", type=Changed)
    owner = await store.find_owner(db, job.book_id, UUID(job.key.rpartition(" ")[2]))
    if owner is None:
        return None
    return Letter(
        recipient=owner["email"],
        subject=f"Payment provider {changed.verb}: {changed.provider}",
        text=text(changed, owner["business_name"], services.settings.public_url),
        at=changed.at,
    )


def text(changed: Changed, business: str, base: str) -> str:
    """The mail: the change, its author, and the remedy when it wasn't meant."""
    collects = "collects" if changed.is_selected else "doesn't collect"
    return "\n".join(
        (
            f"The payment provider {changed.provider} was {changed.verb} in the live environment.",
            f"It {collects} new payments now.",
            "",
            f"Business:  {given_name(business)}",
            f"By:        {given_name(changed.by)}, from {changed.ip}",
            f"When:      {iso(changed.at)}",
            "",
            "If nobody of yours did this, take it back and end the session that it came from:",
            f"  PUT {base}/v1/payment-providers",
            f"  POST {base}/v1/members/{{user_id}}/end-sessions",
            "",
            "You get this mail because you are an owner of this business.",
            "",
        )
    )
