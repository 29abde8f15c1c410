"""Money in a request is a number or a plain decimal string; what is no money is a number."""

from typing import Any

import pytest

from tests.routes.conftest import Visitor
from tests.routes.hostile import Path, Schema, body_schema, kind_of, places, right
from tests.routes.table import WRITES, every, random_path
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Route
from tillhouse.http.wire import convert

WANTED = 'must be a number or a decimal string such as "1500.50"'
WRONG = (
    "", " 1", "1 ", "1\n", "+1", "1e1", "1E1", "1,5", "1,500.00", "1.500,00", "1_000", "01", "1.",
    ".5", "--1", "0x1", "NaN", "Infinity", "1 000", "one", "1" * 41, "\u0661", "\uff11", "\u00bd",
    "\u22121", "$1",
)  # fmt: skip


def money(route: Route) -> list[Path]:
    """The places of a body that take money."""
    return [path for path, part in _numbers(route) if "string" in part["type"]]


def other_numbers(route: Route) -> list[Path]:
    """The places that take another number with decimals: a quantity, or a rate."""
    return [path for path, part in _numbers(route) if "string" not in part["type"]]


def _numbers(route: Route) -> list[tuple[Path, Schema]]:
    schema = body_schema(route)
    found = places(schema) if schema else ()
    return [(path, part) for path, part in found if kind_of(part) == "number"]


def name_in_details(path: Path) -> str:
    """How a refusal names the place."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def body_with(route: Route, value: str | int, paths: list[Path]) -> Any:
    """A body with this at some places."""
    body = right(body_schema(route) or {})
    for path in paths:
        holder = body
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return body


TAKING_MONEY = [route for route in WRITES if money(route)]
TAKING_OTHERS = [route for route in WRITES if other_numbers(route)]


def test_most_routes_with_numbers_are_here() -> None:
    """The document still says where money and quantities are."""
    assert {"POST /v1/orders", "PATCH /v1/products/{product_id}", "POST /v1/promotions"} <= {
        f"{route.method} {route.path}" for route in TAKING_MONEY
    }
    assert {"POST /v1/orders", "POST /v1/inventory/adjustments", "POST /v1/products"} <= {
        f"{route.method} {route.path}" for route in TAKING_OTHERS
    }


async def told(route: Route, visitor: Visitor, body: Any) -> dict[str, str]:
    """The sentences of a 422 by field."""
    answer = await visitor.api(route).request(route.method, random_path(route), body, status=422)
    return {detail["field"]: detail["message"] for detail in answer.json["details"]}


@every(TAKING_MONEY)
async def test_another_form_is_refused_by_name(route: Route, visitor: Visitor) -> None:
    """Each such field is named with what it takes, whatever else is wrong with the body."""
    paths = money(route)
    named = {name_in_details(path) for path in paths}
    for value in WRONG:
        said = await told(route, visitor, body_with(route, value, paths))
        assert {field for field, what in said.items() if what == WANTED} == named, (value, said)


@every(TAKING_MONEY)
@pytest.mark.parametrize("value", ["1", "1.0", "1.000000"])
def test_a_string_is_the_number_in_it(route: Route, value: str) -> None:
    """The body becomes the same as with the number."""
    type_, paths = RouteHandler(route).body_type, money(route)
    assert convert(body_with(route, value, paths), type_) == convert(
        body_with(route, 1, paths), type_
    )


@every(TAKING_OTHERS)
async def test_a_quantity_is_no_string(route: Route, visitor: Visitor) -> None:
    """Strings are for money alone: "1" and "1.0" are refused by name."""
    paths = other_numbers(route)
    named = {name_in_details(path) for path in paths}
    for value in ("1", "1.0"):
        said = await told(route, visitor, body_with(route, value, paths))
        assert {field for field, what in said.items() if what == "must be a number"} == named, said
