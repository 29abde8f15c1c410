"""Orders from a file: judged many at a time, recorded each by itself and once for ever."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tillhouse.access.call import Call, IdempotencyClaim
from tillhouse.access.callers import SystemCaller
from tillhouse.access.process import Services
from tillhouse.customers.actions import find_or_create
from tillhouse.customers.rules import wanted_faults
from tillhouse.customers.store import find_country
from tillhouse.customers.types import WantedCustomer
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Db
from tillhouse.http.fields import right_parts
from tillhouse.kit.clock import now
from tillhouse.kit.errors import FieldError, Invalid, KeyReused, Problem, Unavailable
from tillhouse.kit.ids import PromotionId, new_id
from tillhouse.kit.partial import InvalidField
from tillhouse.kitchen.actions import send
from tillhouse.orders.importing import rules as sheet
from tillhouse.orders.importing.rules import ParsedOrder
from tillhouse.orders.recording import actions as create
from tillhouse.orders.recording import promotion
from tillhouse.orders.recording.named import store_key_of, wanted_of
from tillhouse.orders.recording.rules import sale as rules
from tillhouse.orders.recording.store.facts import NamedIds, StoreKey, find_facts
from tillhouse.orders.store import list_recorded
from tillhouse.orders.types import NewOrder
from tillhouse.products.store.facts import list_owners
from tillhouse.webhooks.emit import Source

NAME = "Import"
AT_ONCE = 4
_KEY = "import:"
_SURFACE = "import"
_TRIES = 5
_PAUSE_S = 0.05

_CHANGED = "was imported before, with another content: change the recorded order through the API"
_NO_TIME = "is required: when was it sold? --now takes orders without it as sold at this moment"
_UNSTORABLE = "The order holds a value that can't be stored."

# Two that stood in each other's way have done nothing wrong and nothing at all: one runs again.
_TRY_AGAIN = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.InvalidCachedStatementError,
    asyncpg.LockNotAvailableError,
)


class ReadyOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order to be recorded."""

    key: str
    fingerprint: bytes
    new: NewOrder
    phone: str | None


class OrderVerdict(msgspec.Struct, kw_only=True):
    """The verdict on one order: it can be recorded, exists already, or is wrong."""

    row_key: str | None = None
    ready: ReadyOrder | None = None
    is_there: bool = False
    faults: list[FieldError] = []


class _Case(msgspec.Struct, kw_only=True):
    """One order while it is judged."""

    asked: ParsedOrder
    is_there: bool = False
    # A new order, or its right parts; None once nothing more is to be asked.
    new: NewOrder | None = None
    # Lines whose sku no variant has.
    missing: set[int]
    faults: list[FieldError]


class Recorded(msgspec.Struct, kw_only=True):
    """The result of one order: recorded, there already, or refused."""

    is_there: bool = False
    faults: list[FieldError] = []


async def judge(
    services: Services,
    origin: Source,
    given: Sequence[dict[str, object]],
    *,
    by_rules: bool,
    takes_now: bool = True,
) -> list[OrderVerdict]:
    """Judge orders by their form and, when asked to, by everything that the book knows.

    An order that exists already is judged by its content only.
    """
    cases = [_case(sheet.ask(one)) for one in given]
    async with services.pool.reading() as db:
        call = _call(services, origin, db)
        open_ = await _compared(call, cases)
        await _find_products(call, open_)
        if by_rules:
            await _judge_by_rules(call, open_, takes_now=takes_now)
    return [_verdict(case) for case in cases]


async def record_all(
    services: Services,
    origin: Source,
    orders: Sequence[ReadyOrder],
    done: Callable[[int], None],
    stock: rules.StockOfPast = "take",
) -> list[Recorded]:
    """Record orders, some at once, each in its own transaction; the result of each."""
    results = [Recorded() for _ in orders]
    rest = iter(enumerate(orders))

    async def work(rest: Iterator[tuple[int, ReadyOrder]]) -> None:
        for index, ready in rest:
            results[index] = await record(services, origin, ready, stock)
            done(1)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(AT_ONCE, services.pool.writers)):
                group.create_task(work(rest))
    except BaseExceptionGroup as several:
        # The database is away for all of them: one sentence is enough.
        raise several.exceptions[0] from None
    return results


async def record(
    services: Services, origin: Source, ready: ReadyOrder, stock: rules.StockOfPast = "take"
) -> Recorded:
    """Record one order, unless an earlier import did."""
    constraints = services.declared.constraints
    for left in reversed(range(_TRIES)):
        try:
            return await _record(services, origin, ready, stock)
        except _TRY_AGAIN:
            if not left:
                raise
            await asyncio.sleep(_PAUSE_S)
        except asyncpg.IntegrityConstraintViolationError as error:
            # Of two imports of one file at once, the second finds the orders of the first.
            if not (left and (constraints.is_chance(error) or _is_key(error))):
                refusal = constraints.refusal(error)
                return Recorded(faults=_faults(refusal or Invalid.field("", _UNSTORABLE)))
        except (asyncpg.DataError, asyncpg.CharacterNotInRepertoireError):
            return Recorded(faults=[FieldError("", _UNSTORABLE)])
        except Unavailable:
            # That is nothing that the order could be blamed for.
            raise
        except Problem as problem:
            return Recorded(faults=_faults(problem))
    raise AssertionError("the last try answers or raises")


async def _record(
    services: Services, origin: Source, ready: ReadyOrder, stock: rules.StockOfPast
) -> Recorded:
    # The order keeps the key of its row; there is no answer to be kept besides.
    claim = IdempotencyClaim(
        origin.book.id, _SURFACE, ready.key, ready.fingerprint, is_claimed=True
    )
    new = ready.new
    async with services.pool.transaction() as db:
        call = _call(services, origin, db, claim)
        if ready.phone is not None:
            name = None if new.customer_name is None else str(new.customer_name)
            wanted = WantedCustomer(name=name, phone_number=ready.phone)
            customer_id, _ = await find_or_create(call, wanted)
            new = msgspec.structs.replace(new, customer_id=customer_id)
        outcome = await create.create(call, new, stock)
    if outcome.sending is not None:
        # The order is recorded, whatever becomes of the message.
        with contextlib.suppress(Problem, *FAILURES):
            await send(services, outcome.sending)
    return Recorded(is_there=outcome.is_replay)


def _as_sold(value: dict[str, Any]) -> dict[str, Any]:
    """The order as its file tells it: what was charged for service is in there, or was nothing."""
    if value.get("service_charge_amount") is not None:
        return value
    return {**value, "service_charge_amount": 0}


def _is_key(error: asyncpg.PostgresError) -> bool:
    return getattr(error, "constraint_name", None) == "orders_idempotency_key"


def _faults(problem: Problem) -> list[FieldError]:
    """A refusal by the fields of the file."""
    if isinstance(problem, KeyReused):
        return [FieldError("row_key", _CHANGED)]
    if not problem.details:
        return [FieldError("", problem.message)]
    return [
        FieldError("customer_phone" if one.field == "phone_number" else one.field, one.message)
        for one in problem.details
    ]


def _call(
    services: Services, origin: Source, db: Db, claim: IdempotencyClaim | None = None
) -> Call:
    return Call(
        db=db,
        services=services,
        now=now(),
        request_id=str(new_id()),
        ip="local",
        business_id=origin.business_id,
        book=origin.book,
        caller=SystemCaller(NAME),
        claim=claim,
    )


def _case(asked: ParsedOrder) -> _Case:
    return _Case(asked=asked, missing=set(), faults=list(asked.faults))


def _verdict(case: _Case) -> OrderVerdict:
    asked = case.asked
    faults = case.faults
    if faults or case.is_there:
        return OrderVerdict(row_key=asked.row_key, is_there=case.is_there, faults=faults)
    assert asked.fingerprint is not None, "its form is right"  # noqa: S101
    assert case.new is not None, "it is not there"  # noqa: S101
    key = f"{_KEY}{asked.row_key}"
    ready = ReadyOrder(key=key, fingerprint=asked.fingerprint, new=case.new, phone=asked.phone)
    return OrderVerdict(row_key=asked.row_key, ready=ready)


async def _compared(call: Call, cases: Sequence[_Case]) -> list[_Case]:
    """Find the recorded orders, the same or changed; the others."""
    keys = [f"{_KEY}{case.asked.row_key}" for case in cases]
    recorded = await list_recorded(call.db, call.book.id, keys)
    open_: list[_Case] = []
    for key, case in zip(keys, cases, strict=True):
        if case.asked.fingerprint is None or key not in recorded:
            open_.append(case)
        elif recorded[key] == case.asked.fingerprint:
            case.is_there = True
        else:
            case.faults.append(FieldError("row_key", _CHANGED))
    return open_


async def _find_products(call: Call, cases: Sequence[_Case]) -> None:
    """Put the products and variants in the place of their skus."""
    skus = {sku for case in cases for sku in case.asked.skus if sku is not None}
    found: dict[str, tuple[UUID, UUID | None]] = {}
    if skus:
        for sku, product_id, variant_id in await list_owners(call.db, call.book.id, sorted(skus)):
            # A product may have the sku of one of its variants: the variant says more.
            if variant_id is not None or sku not in found:
                found[sku] = (product_id, variant_id)
    for case in cases:
        value = case.asked.value
        for index, sku in enumerate(case.asked.skus):
            if sku is None:
                continue
            if sku not in found:
                case.missing.add(index)
                case.faults.append(FieldError(f"items[{index}].product_sku", sheet.NO_SKU))
            else:
                product_id, variant_id = found[sku]
                ids = {"product_id": str(product_id)}
                ids |= {} if variant_id is None else {"variant_id": str(variant_id)}
                value["items"][index] |= ids
        case.new = right_parts(_as_sold(value), NewOrder)


async def _judge_by_rules(call: Call, cases: Sequence[_Case], *, takes_now: bool) -> None:
    """Everything that rules find wrong; those that rest on the same facts are judged together."""
    country = await find_country(call.db, call.book.id)
    groups: defaultdict[tuple[StoreKey, PromotionId | None], list[tuple[_Case, NewOrder, NamedIds]]]
    groups = defaultdict(list)
    for case in cases:
        new = case.new
        if new is None:
            continue
        case.faults += _own_faults(case.asked, country, takes_now=takes_now)
        same = (store_key_of(call, new), _promotion_of(new))
        groups[same].append((case, new, wanted_of(call, new)))
    for (key, promotion_id), group in groups.items():
        promoted = await promotion.faults(call, promotion_id) if promotion_id else []
        await _judge_group(call, key, group, promoted)


async def _judge_group(
    call: Call,
    key: StoreKey,
    group: Sequence[tuple[_Case, NewOrder, NamedIds]],
    promoted: Sequence[FieldError],
) -> None:
    found_facts = await find_facts(call.db, key, [wanted for _, _, wanted in group])
    for case, new, wanted in group:
        facts = found_facts.of(wanted)
        named = {fault.field for fault in case.faults}
        ruled = sheet.in_skus(rules.new_faults(new, facts, call.now), case.asked, case.missing)
        found = [*ruled, *promoted]
        # One fault of a field is enough.
        case.faults += [fault for fault in found if fault.field not in named]
        if not case.faults:
            reason = await create.reason_against(call, new, facts)
            case.faults += [FieldError("", reason)] if reason else []


def _own_faults(asked: ParsedOrder, country: str, *, takes_now: bool) -> Iterator[FieldError]:
    """Faults that only orders from files can have."""
    if asked.phone is not None:
        wanted = WantedCustomer(phone_number=asked.phone)
        for fault in wanted_faults(wanted, country):
            yield FieldError("customer_phone", fault.message)
    given = asked.value
    has_time = any(given.get(name) is not None for name in ("occurred_at", "scheduled_for"))
    if not has_time and not takes_now:
        yield FieldError("occurred_at", _NO_TIME)


def _promotion_of(new: NewOrder) -> PromotionId | None:
    try:
        return new.promotion_id
    except InvalidField:
        return None
