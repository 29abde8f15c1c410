"""Orders that are sent at the same moment, and everything that each of them left behind."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.api import Response
from tests.orders.shop import Body, Shop, chosen, fee, line, variant_of
from tillhouse.kit.clock import iso, now

LATER = iso(now() + timedelta(days=3))
LONG_AGO = iso(now() - timedelta(days=3))
# Every code is drawn by lot; these times are those of the statement, which several may share.
_DRAWN = {
    "book_id", "short_code", "shortCode", "reference", "idempotency_fingerprint", "created_at",
    "updated_at", "id",
}  # fmt: skip
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)")

Names = dict[str, str]


async def together(calls: Iterable[Awaitable[Response]]) -> list[Response]:
    """Send all of them, and wait for all."""
    return list(await asyncio.gather(*calls))


def statuses(answers: Iterable[Response]) -> dict[int, int]:
    """How many were answered what."""
    return dict(Counter(answer.status for answer in answers))


def done(answers: Iterable[Response]) -> list[Body]:
    """The orders that were recorded."""
    return [answer.data for answer in answers if answer.status == 201]


async def trips(shop: Shop, orders: Iterable[Body]) -> int:
    """By how many transactions these orders were recorded: those of a batch share one."""
    ids = [UUID(order["id"]) for order in orders]
    found = await shop.sql.fetchrow(_TRIPS, shop.book, ids)
    assert found is not None
    assert found["orders"] == len(ids), "an order that was answered isn't there"
    return found["trips"]


async def check_shared(shop: Shop, orders: Sequence[Body]) -> None:
    """That there was a batch: otherwise what was looked at says nothing of it."""
    assert await trips(shop, orders) < len(orders)


class Stall:
    """The same goods, people and places in whichever shop, and the same orders of them."""

    def __init__(self, shop: Shop, ids: dict[str, Any]) -> None:
        self.shop = shop
        self._ids = ids

    @classmethod
    async def furnish(cls, shop: Shop) -> "Stall":
        """The things that orders can name."""
        stores = [await shop.store(name=f"Store {n}") for n in range(2)]
        extras = await shop.group(50, 75)
        price = {"store_id": stores[0]["id"], "price": 700}
        rice = await shop.product(stock=900, prices=[price], tax_rate=7.5)
        await shop.adjust(variant_of(rice), 900, stores[0]["id"])
        sizes: list[Body] = [{"name": "S", "price": 310}, {"name": "L", "prices": [price]}]
        variants = [{**size, "tracks_stock": True} for size in sizes]
        tea = await shop.product(name="Tea", variants=variants)
        for variant in tea["variants"]:
            await shop.adjust(variant["id"], 900)
        return cls(
            shop,
            {
                "stores": stores, "rice": rice, "tea": tea, "extras": extras,
                "box": await shop.bundle((rice, 2)),
                "cake": await shop.product(450, name="Cake", modifier_group_ids=[extras["id"]]),
                "people": [await shop.customer(f"Customer {n}") for n in range(5)],
                "sessions": [await shop.session(f"Table {n}") for n in range(3)],
                "terms": [
                    await shop.made("/v1/academic-terms", {"name": f"Term {n}"}) for n in range(2)
                ],
                "tags": [await shop.tag(f"Tag {n}") for n in range(3)],
                "server": {"id": shop.business.user_id},
                "hook": await shop.business.endpoint(),
            },
        )  # fmt: skip

    def order(self, n: int) -> tuple[list[Body], Body]:
        """An order that differs from its neighbours in all that it names."""
        ids = self._ids
        lines = [fee(100 + n, f"Fee {n}"), line(ids["rice"], 1 + n % 4)]
        if n % 2:
            lines.append(line(ids["tea"], n % 5 + 1, variant_id=variant_of(ids["tea"], n // 2 % 2)))
        if n % 3 == 1:
            lines.append(line(ids["cake"], 2, modifiers=[chosen(ids["extras"], n % 2)]))
        if n % 5 == 3:
            lines.insert(0, line(ids["box"]))
        fields: Body = {"notes": f"Order {n}", "payment_method": ("cash", "transfer", "pos")[n % 3]}
        fields["amount_paid"] = (0, 50 + n, 90_000 + n)[n % 7 % 3]
        return lines, fields | self._named(n)

    def _named(self, n: int) -> Body:
        ids = self._ids
        return {
            name: value
            for name, is_named, value in (
                ("customer_id", n % 6, ids["people"][n % 5]["id"]),
                ("store_id", n % 3, ids["stores"][n % 3 - 1]["id"]),
                ("table_session_id", n % 4 == 1, ids["sessions"][n % 3]["id"]),
                ("send_to_kitchen", n % 4 == 2, True),
                ("table_label", n % 4 == 2, f"Label {n}"),
                ("covers", n % 4 == 2, n),
                ("academic_term_id", n % 7 == 3, ids["terms"][n % 2]["id"]),
                ("tags", n % 5 == 2, [ids["tags"][n % 3]["id"], ids["tags"][(n + 1) % 3]["id"]]),
                ("served_by_user_id", n % 8 > 4, ids["server"]["id"]),
                ("scheduled_for", n % 9 == 7, LATER),
                ("occurred_at", n % 9 == 5, LONG_AGO),
            )
            if is_named
        }

    async def ask(self, n: int, key: str | None = None) -> Response:
        """The expected result of the order of this number."""
        lines, fields = self.order(n)
        return await self.shop.ask(*lines, key=key, **fields)

    @property
    def names(self) -> Names:
        """Names for the ids, which differ from shop to shop."""
        return {id_: path for path, id_ in _ids(self._ids, "")}

    async def stories(self) -> dict[str, Any]:
        """Everything that is kept of each order, by its key, in words that fit every shop."""
        rows = await self.shop.sql.fetch(_STORIES, self.shop.book, list(_DRAWN))
        found: dict[str, Any] = {}
        for row in rows:
            names = {**self.names, str(row["id"]): "this order", self.shop.business.id: "us"}
            told = json.loads(row["story"])
            found[row["idempotency_key"]] = _plain(told, names, row["created_at"])
        return found

    async def levels(self) -> list[Any]:
        """How much there is of what where; which must be what its moves come to."""
        rows = await self.shop.sql.fetch(_LEVELS, self.shop.book)
        for row in rows:
            assert (row["on_hand"], row["reserved"]) == (row["moved"], row["promised"]), row
        return self._sorted(rows)

    async def balances(self) -> list[Any]:
        """The credit of each customer."""
        return self._sorted(await self.shop.sql.fetch(_BALANCES, self.shop.book))

    def _sorted(self, rows: Iterable[Mapping[str, Any]]) -> list[Any]:
        return sorted([str(_plain(list(map(str, row.values())), self.names)) for row in rows])


def _ids(value: Any, path: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "id":
                yield path, inner
            yield from _ids(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _ids(inner, f"{path}.{place}")


def _plain(value: Any, names: Names, own: datetime | None = None) -> Any:
    """The same without what is drawn by lot; a moment that is the order's own is called so."""
    if isinstance(value, dict):
        kept = {name: inner for name, inner in value.items() if name not in _DRAWN}
        return {name: _plain(inner, names, own) for name, inner in kept.items()}
    if isinstance(value, list):
        return [_plain(inner, names, own) for inner in value]
    if not isinstance(value, str):
        return value
    text = _ID.sub(lambda match: names.get(match[0], "-"), value)
    return _TIME.sub(lambda m: "own" if datetime.fromisoformat(m[0]) == own else m[0], text)


_TRIPS = """
    SELECT count(*) AS orders, count(DISTINCT xmin::text) AS trips FROM orders
    WHERE book_id = $1 AND id = ANY($2)
"""
_STORIES = """
    SELECT o.id, o.idempotency_key, o.created_at, jsonb_build_object(
        'order', to_jsonb(o) - $2::text[],
        'lines', (SELECT jsonb_agg(to_jsonb(i) - $2::text[] ORDER BY i.position)
            FROM order_items i WHERE i.book_id = $1 AND i.order_id = o.id),
        'moves', (SELECT jsonb_agg(to_jsonb(m) - $2::text[] || jsonb_build_object(
                'order_item_id', (SELECT i.position FROM order_items i WHERE i.book_id = $1
                    AND i.id = m.order_item_id AND i.order_id = o.id)) ORDER BY m.id)
            FROM stock_moves m WHERE m.book_id = $1 AND m.order_id = o.id),
        'transfers', (SELECT jsonb_agg(to_jsonb(t) - $2::text[] ORDER BY t.sequence)
            FROM ledger_transfers t WHERE t.book_id = $1 AND t.source_id = o.id),
        'transactions', (SELECT jsonb_agg(to_jsonb(t) - $2::text[] ORDER BY t.amount)
            FROM transactions t WHERE t.book_id = $1 AND t.source_id = o.id),
        'debts', (SELECT jsonb_agg(to_jsonb(d) - $2::text[])
            FROM debts d WHERE d.book_id = $1 AND d.source_id = o.id),
        'tickets', (SELECT jsonb_agg(to_jsonb(t) - $2::text[])
            FROM kitchen_tickets t WHERE t.book_id = $1 AND t.order_id = o.id),
        'events', (SELECT jsonb_agg(jsonb_build_object('type', e.type, 'said', e.payload::jsonb,
                'reached', (SELECT jsonb_agg(jsonb_build_object('endpoint', d.webhook_endpoint_id,
                        'type', d.event_type, 'status', d.status, 'is_queued',
                        EXISTS (SELECT FROM webhook_queue q WHERE q.delivery_id = d.id)))
                    FROM webhook_deliveries d WHERE d.book_id = $1 AND d.event_id = e.id)
                ) ORDER BY e.id)
            FROM webhook_events e WHERE e.book_id = $1
                AND e.payload::jsonb #>> '{data,entityId}' = o.id::text),
        'kept', (SELECT jsonb_agg(jsonb_build_array(k.surface,
                convert_from(k.answer, 'UTF8')::jsonb)) FROM idempotency_keys k
            WHERE k.book_id = $1 AND k.key = o.idempotency_key)
    ) AS story
    FROM orders o WHERE o.book_id = $1
"""
_LEVELS = """
    SELECT l.variant_id, l.store_id, l.on_hand, l.reserved,
        coalesce(sum(m.on_hand_change), 0) AS moved, coalesce(sum(m.reserved_change), 0) AS promised
    FROM stock_levels l
    LEFT JOIN stock_moves m ON m.book_id = $1 AND m.variant_id = l.variant_id
        AND m.store_id IS NOT DISTINCT FROM l.store_id
    WHERE l.book_id = $1 GROUP BY l.id, l.variant_id, l.store_id, l.on_hand, l.reserved
"""
_BALANCES = """
    SELECT kind, owner_id, debits, credits FROM ledger_balances WHERE book_id = $1
"""
