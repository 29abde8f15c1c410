"""Payment links: make, show, list and cancel."""

from contextlib import suppress
from decimal import Decimal
from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_currency
from tillhouse.checkout import rules
from tillhouse.checkout.store import links as store
from tillhouse.checkout.store import listing
from tillhouse.checkout.types import (
    LinkCustomer,
    LinkFilter,
    NewLink,
    NewWalletLink,
    OwedType,
    PaymentLink,
)
from tillhouse.customers.actions import find_or_create, resolve, wanted_faults
from tillhouse.customers.rules import word_query
from tillhouse.folios import payments as folios
from tillhouse.kit.errors import FieldError, KeyReused, Missing, check, existing
from tillhouse.kit.ids import BookKey, CustomerId, new_id, public_reference
from tillhouse.kit.page import PageOf, meta
from tillhouse.kit.partial import InvalidField
from tillhouse.payins.connections import check_collects
from tillhouse.payins.types import Collects
from tillhouse.stores.store import find_clock

REFERENCE_PREFIX = "pl_"
_FIND = {
    "sale": store.find_order, "debt": store.find_debt, "reservation": store.find_stay,
}  # fmt: skip


async def list_page(call: Call, wanted: LinkFilter) -> PageOf[PaymentLink]:
    """One page of the links that fit, the newest first."""
    query = await _query(call, wanted)
    count = listing.count_tallied if query.is_tallied else listing.count_found
    total = await count(call.db, call.book.id, query)
    page = wanted.pick()
    if page.offset >= total:
        return PageOf([], meta(page, total))
    rows = await listing.list_links(call.db, call.book.id, query, page)
    return PageOf([_shown(call, row) for row in rows], meta(page, total))


async def show(call: Call, link_id: UUID) -> PaymentLink:
    """One link, with the amount that its target owes now."""
    row = await store.show_link(call.db, call.book.id, call.now, link_id)
    return _shown(call, existing(row))


async def create(call: Call, new: NewLink) -> tuple[PaymentLink, bool]:
    """A link for the amount owed, or the active one; whether it is an old answer."""
    if earlier := await _earlier(call):
        return earlier, True
    row = await _lock_target(call, new.target_type, new.target_id)
    target = _target(row)
    check(rules.link_faults(new, call.book.environment, target))
    if row is None or target is None:
        raise AssertionError("a missing target is a fault")
    rules.check_owed(target, new.target_type)
    await _check_collects(call, row["currency"], target.outstanding)
    customer_id = await _customer(call, new.customer)
    claim = call.claim
    link = store.LinkRow(
        id=new_id(),
        reference=public_reference(REFERENCE_PREFIX),
        target_type=new.target_type,
        target_id=new.target_id,
        order_id=row["order_id"],
        title=None,
        amount=target.outstanding,
        currency=row["currency"],
        customer_id=customer_id or row["customer_id"],
        description=rules.described(new.target_type, target.short_code),
        redirect_url=new.redirect_url,
        expires_at=None,
        key=claim.key if claim else None,
        fingerprint=claim.fingerprint if claim else None,
    )
    made = await store.upsert_link(
        call.db, call.book.id, call.now, link, names_customer=customer_id is not None
    )
    return _shown(call, made), False


async def create_for_wallet(call: Call, new: NewWalletLink) -> tuple[PaymentLink, bool]:
    """A link that pays into the wallet once; whether it is an old answer."""
    if earlier := await _earlier(call):
        return earlier, True
    currency = await find_currency(call.db, call.book.id)
    check(rules.wallet_faults(new, call.book.environment, currency))
    await _check_collects(call, currency, Decimal(new.amount))
    claim = call.claim
    link = store.LinkRow(
        id=new_id(),
        reference=public_reference(REFERENCE_PREFIX),
        target_type="wallet",
        target_id=None,
        order_id=None,
        title=new.title,
        amount=new.amount,
        currency=currency,
        customer_id=await _customer(call, new.customer),
        description=new.title,
        redirect_url=new.redirect_url,
        expires_at=call.now + rules.WALLET_LASTS,
        key=claim.key if claim else None,
        fingerprint=claim.fingerprint if claim else None,
    )
    made = await store.insert_link(call.db, call.book.id, call.now, link)
    return _shown(call, made), False


async def new_faults(call: Call, new: NewLink) -> list[FieldError]:
    """The faults of a new link of a sale, a debt or a stay."""
    try:
        target = _target(await _find_target(call, new.target_type, new.target_id))
    except InvalidField:
        target = None
    found = rules.link_faults(new, call.book.environment, target)
    return [*found, *await _customer_faults(call, new)]


async def new_wallet_faults(call: Call, new: NewWalletLink) -> list[FieldError]:
    """The faults of a new link of the wallet."""
    currency = await find_currency(call.db, call.book.id)
    found = rules.wallet_faults(new, call.book.environment, currency)
    return [*found, *await _customer_faults(call, new)]


async def cancel(call: Call, link_id: UUID) -> PaymentLink:
    """Stop a link from asking anybody to pay."""
    await store.update_cancelled(call.db, BookKey(call.book.id, link_id), call.now)
    link = await show(call, link_id)
    if link.status == "PAID":
        raise rules.AlreadyPaid
    # Open pages of the link are told.
    call.db.note_events(call.book.id)
    return link


async def _check_collects(call: Call, currency: str, amount: Decimal) -> None:
    """Refuse a link that no provider of a live book would collect; its page asks for an email."""
    wanted = Collects(currency=currency, amount=amount)
    await check_collects(call.services, call.db, call.book, wanted)


async def _earlier(call: Call) -> PaymentLink | None:
    """The link that the same request made long ago; another request with its key is a mistake."""
    if call.claim is None:
        return None
    row = await store.find_earlier(call.db, call.book.id, call.claim.key)
    if row is None:
        return None
    if row["fingerprint"] != call.claim.fingerprint:
        raise KeyReused
    return await show(call, row["id"])


async def _lock_target(call: Call, target_type: OwedType, target_id: UUID) -> Record | None:
    match target_type:
        case "sale":
            return await store.lock_order(call.db, call.book.id, target_id)
        case "debt":
            return await store.lock_debt(call.db, call.book.id, target_id)
        case "reservation":
            # Its sums lie in other rows, which the statement that waits would read too early, and
            # which a payment at the desk changes: it comes before the link, or finds it.
            with suppress(Missing):
                await folios.lock_whole(call, target_id)
            return await store.find_stay(call.db, call.book.id, target_id)


async def _find_target(call: Call, target_type: OwedType, target_id: UUID) -> Record | None:
    return await _FIND[target_type](call.db, call.book.id, target_id)


def _target(row: Record | None) -> rules.LinkTarget | None:
    if row is None:
        return None
    return rules.LinkTarget(
        outstanding=row["outstanding"], short_code=row["short_code"], status=row["status"]
    )


async def _customer(call: Call, customer: LinkCustomer | None) -> CustomerId | None:
    if customer is None:
        return None
    return (await find_or_create(call, rules.wanted_customer(customer)))[0]


async def _customer_faults(call: Call, new: NewLink | NewWalletLink) -> list[FieldError]:
    try:
        if new.customer is None:
            return []
        return await wanted_faults(call, rules.wanted_customer(new.customer))
    except InvalidField:
        return []


async def _query(call: Call, wanted: LinkFilter) -> listing.LinkQuery:
    since = until = None
    if wanted.since or wanted.until:
        clock = await find_clock(call, None)
        since, until = clock.between(wanted.since, wanted.until)
    customer_id = await resolve(
        call.db, call.book.id, wanted.customer_id, wanted.customer_email, wanted.customer_phone
    )
    return listing.LinkQuery(
        now=call.now,
        status=[*wanted.status] if wanted.status else None,
        target_type=wanted.target_type,
        target_id=wanted.target_id,
        since=since,
        until=until,
        customer_id=customer_id,
        reference=str(wanted.search) if wanted.search else None,
        words=word_query(wanted.search) or None if wanted.search else None,
    )


def _shown(call: Call, row: Record) -> PaymentLink:
    url = page_url(call.services.settings.public_url, row["reference"])
    return PaymentLink(**row, url=url, qr=url + "/qr.svg")


def page_url(public_url: str, reference: str) -> str:
    """The page of a link."""
    return f"{public_url}/pay/{reference}"
