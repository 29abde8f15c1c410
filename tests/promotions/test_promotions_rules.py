"""The discount of promotions, for any basket: never more than there is, and to the last unit."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.money import EXPONENTS, check_scale
from tillhouse.promotions.facts import Discounts, Offer, PromotedLine
from tillhouse.promotions.rules import judge, matches

RICE, BEANS, MEALS = UUID(int=1), UUID(int=2), UUID(int=3)
ADA = UUID(int=9)
# A Saturday, a quarter past one in the morning in Lagos.
SATURDAY = datetime(2026, 11, 21, 0, 15, tzinfo=UTC)


def _offer(**fields: Any) -> Offer:
    given_: dict[str, Any] = {
        "name": "Happy hour", "type": "percent", "scope": "order", "value": Decimal(10),
        "product_ids": [], "category_ids": [], "minimum_subtotal": None,
        "maximum_discount": None, "starts_at": None, "ends_at": None, "days": None,
        "from_minute": None, "to_minute": None, "limit_total": None, "limit_per_customer": None,
        "is_active": True, "used": 0, "used_by_customer": 0, "currency": "NGN",
        "time_zone": "Africa/Lagos",
    }  # fmt: skip
    return Offer(**{**given_, **fields})


def _line(
    net: str, quantity: str = "1", product: UUID | None = RICE, category: UUID | None = None
) -> PromotedLine:
    return PromotedLine(
        product_id=product,
        category_id=category,
        net=Decimal(net),
        quantity=Decimal(quantity),
        unit_price=Decimal(net) / Decimal(quantity),
    )


def _shares(offer: Offer, *lines: PromotedLine) -> list[Decimal] | str:
    found = judge(offer, lines, None, SATURDAY)
    return found.shares if isinstance(found, Discounts) else found


@st.composite
def _lines(draw: st.DrawFn, currency: str) -> list[PromotedLine]:
    decimals = EXPONENTS[currency]

    def one() -> PromotedLine:
        unit = draw(st.decimals(0, 10_000, places=decimals))
        quantity = draw(st.integers(1, 40).map(Decimal) | st.decimals("0.001", 9, places=3))
        # Something may have been taken off the line before.
        whole = round(unit * quantity, decimals)
        taken = draw(st.decimals(0, max(whole, Decimal(0)), places=decimals))
        return PromotedLine(
            product_id=draw(st.sampled_from([RICE, BEANS, None])),
            category_id=draw(st.sampled_from([MEALS, None])),
            net=whole - taken,
            quantity=quantity,
            unit_price=unit,
        )

    return [one() for _ in range(draw(st.integers(1, 12)))]


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Offer, list[PromotedLine]]:
    currency = draw(st.sampled_from(["NGN", "JPY", "KWD"]))
    decimals = EXPONENTS[currency]
    kind = draw(st.sampled_from(["percent", "fixed", "free_item"]))
    worth = st.decimals(0, 100_000, places=decimals)
    offer = _offer(
        currency=currency,
        type=kind,
        value=draw(st.decimals("0.01", 100, places=2) if kind == "percent" else worth),
        scope=draw(st.sampled_from(["order", "products", "categories"])),
        product_ids=[RICE],
        category_ids=[MEALS],
        maximum_discount=draw(st.none() | worth),
    )
    return offer, draw(_lines(currency))


@given(_cases())
def test_the_shares_are_the_discount_and_leave_no_line_below_nothing(
    case: tuple[Offer, list[PromotedLine]],
) -> None:
    """In whole units, on matching lines alone, within the maximum."""
    offer, lines = case
    found = judge(offer, lines, None, SATURDAY)
    if isinstance(found, str):
        assert found.endswith(".")
        return
    assert len(found.shares) == len(lines)
    assert sum(found.shares) == found.total > 0
    assert check_scale(found.total, offer.currency) is None
    for line, share in zip(lines, found.shares, strict=True):
        assert 0 <= share <= line.net
        assert check_scale(share, offer.currency) is None
        assert not share or matches(offer, line)
    if offer.maximum_discount is not None:
        assert found.total <= offer.maximum_discount


@given(_cases())
def test_a_percentage_is_exact_to_half_a_unit(case: tuple[Offer, list[PromotedLine]]) -> None:
    """Once for the whole, not once per line."""
    offer, lines = case
    if offer.type != "percent" or offer.maximum_discount is not None:
        return
    exact = sum(line.net for line in lines if matches(offer, line)) * offer.value / 100
    found = judge(offer, lines, None, SATURDAY)
    total = found.total if isinstance(found, Discounts) else Decimal(0)
    assert abs(total - exact) <= Decimal(1).scaleb(-EXPONENTS[offer.currency]) / 2


def test_each_kind_takes_what_it_says() -> None:
    """Half-up, spread by what the lines cost."""
    lines = (_line("10.05"), _line("20.10", product=BEANS, category=MEALS))
    assert _shares(_offer(value=Decimal(50)), *lines) == [Decimal("5.03"), Decimal("10.05")]
    fixed = _offer(type="fixed", value=Decimal(3))
    assert _shares(fixed, *lines) == [Decimal("1.00"), Decimal("2.00")]
    dear = _offer(type="fixed", value=Decimal(1000))
    assert _shares(dear, *lines) == [Decimal("10.05"), Decimal("20.10")]
    only = _offer(scope="products", product_ids=[BEANS])
    assert _shares(only, *lines) == [Decimal("0"), Decimal("2.01")]
    meals = _offer(scope="categories", category_ids=[MEALS], maximum_discount=Decimal(1))
    assert _shares(meals, *lines) == [Decimal("0"), Decimal("1.00")]


def test_the_cheapest_unit_is_free() -> None:
    """One of it, less than a unit when there is less, or up to the value."""
    free = _offer(type="free_item", value=Decimal(0))
    lines = (_line("3000", "2"), _line("1000", "4", BEANS), _line("0", "1"))
    assert _shares(free, *lines) == [Decimal(0), Decimal(250), Decimal(0)]
    assert _shares(free, _line("90", "0.5")) == [Decimal(90)]
    part = _offer(type="free_item", value=Decimal(100))
    assert _shares(part, *lines) == [Decimal(0), Decimal(100), Decimal(0)]
    among = _offer(type="free_item", value=Decimal(0), scope="products", product_ids=[RICE])
    assert _shares(among, *lines) == [Decimal(1500), Decimal(0), Decimal(0)]


def test_of_lines_as_cheap_the_first_has_the_free_unit() -> None:
    """By the price of a unit, whatever the quantity, and whatever was taken off the line before."""
    free = _offer(type="free_item", value=Decimal(0))
    assert _shares(free, _line("900"), _line("500", product=BEANS), _line("500")) == [0, 500, 0]
    assert _shares(free, _line("1000", "2"), _line("500")) == [500, 0]
    reduced = msgspec.structs.replace(_line("500"), net=Decimal(100))
    assert _shares(free, _line("400"), reduced) == [400, 0]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"is_active": False}, "switched off"),
        ({"starts_at": datetime(2026, 11, 22, tzinfo=UTC)}, "not begun"),
        ({"ends_at": datetime(2026, 11, 20, tzinfo=UTC)}, "has ended"),
        ({"days": [7]}, "day of the week"),
        ({"days": [5]}, "day of the week"),
        ({"from_minute": 120, "to_minute": 300}, "valid from 02:00 to 05:00"),
        ({"from_minute": 1320, "to_minute": 60}, "valid from 22:00 to 01:00"),
        ({"from_minute": 1320, "to_minute": 120, "days": [6]}, "day of the week"),
        ({"limit_total": 3, "used": 3}, "as often as it may be"),
        ({"limit_per_customer": 1}, "name the customer"),
        ({"minimum_subtotal": Decimal("500.01")}, "at least 500.01 NGN"),
        ({"scope": "products", "product_ids": [BEANS]}, "other items"),
        ({"value": Decimal("0.0001")}, "takes nothing off"),
    ],
)
def test_a_reason_is_a_sentence_for_the_cashier(fields: dict[str, Any], reason: str) -> None:
    """Each thing that can speak against a promotion, in the business's time zone."""
    found = judge(_offer(**fields), [_line("500")], None, SATURDAY)
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize(
    "fields",
    [
        {"days": [6]},
        {"from_minute": 75, "to_minute": 76},
        {"from_minute": 1320, "to_minute": 120},
        # A day that begins and ends at this minute has begun.
        {"from_minute": 75, "to_minute": 75, "days": [6]},
        # The small hours of Saturday belong to Friday evening.
        {"from_minute": 1320, "to_minute": 120, "days": [5]},
        {"starts_at": SATURDAY, "ends_at": SATURDAY},
        {"limit_total": 3, "used": 2},
        {"minimum_subtotal": Decimal(500)},
    ],
)
def test_at_the_bounds_it_is_valid(fields: dict[str, Any]) -> None:
    """The first moment and the last, the last use, exactly the least order."""
    assert isinstance(judge(_offer(**fields), [_line("500")], None, SATURDAY), Discounts)


def test_each_customer_has_a_limit_of_their_own() -> None:
    """Counted per customer, and only where there is such a limit."""
    offer = _offer(limit_per_customer=2, used_by_customer=1, used=50)
    assert isinstance(judge(offer, [_line("500")], ADA, SATURDAY), Discounts)
    again = _offer(limit_per_customer=2, used_by_customer=2, used=50)
    found = judge(again, [_line("500")], ADA, SATURDAY)
    assert found == "This customer has used Happy hour as often as each may."
