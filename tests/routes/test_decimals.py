"""Every decimal of a request may be a number or a plain decimal string, whatever the route."""

from typing import Any

import pytest

from tests.routes.conftest import Visitor
from tests.routes.hostile import Path, body_schema, kind_of, places, right
from tests.routes.table import WRITES, every, random_path
from tillhouse.http.endpoint import Endpoint
from tillhouse.http.route import Route
from tillhouse.http.wire import convert

WANTED = 'must be a number or a decimal string such as "1500.50"'
WRONG = (
    "", " 1", "1 ", "1\n", "+1", "1e1", "1E1", "1,5", "1,500.00", "1.500,00", "1_000", "01", "1.",
    ".5", "--1", "0x1", "NaN", "Infinity", "1 000", "one", "1" * 41, "\u0661", "\uff11", "\u00bd",
    "\u22121", "$1",
)  # fmt: skip


def decimals(route: Route) -> list[Path]:
    """The places of a body that take a decimal."""
    schema = body_schema(route)
    found = places(schema) if schema else ()
    return [path for path, part in found if kind_of(part) == "number"]


def name_in_details(path: Path) -> str:
    """How a refusal names the place."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def body_with(route: Route, value: str | int) -> Any:
    """A body with this at every place that takes a decimal."""
    body = right(body_schema(route) or {})
    for path in decimals(route):
        holder = body
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return body


TAKING_DECIMALS = [route for route in WRITES if decimals(route)]


def test_most_routes_with_money_are_here() -> None:
    """The document still says where decimals are."""
    assert {"POST /v1/orders", "PATCH /v1/products/{product_id}", "POST /v1/promotions"} <= {
        f"{route.method} {route.path}" for route in TAKING_DECIMALS
    }


@every(TAKING_DECIMALS)
async def test_another_form_is_refused_by_name(route: Route, visitor: Visitor) -> None:
    """Each such field is named with what it takes, whatever else is wrong with the body."""
    named = {name_in_details(path) for path in decimals(route)}
    for value in WRONG:
        body = body_with(route, value)
        answer = await visitor.api(route).request(
            route.method, random_path(route), body, status=422
        )
        told = {detail["field"]: detail["message"] for detail in answer.json["details"]}
        assert {field for field, said in told.items() if said == WANTED} == named, (value, told)


@every(TAKING_DECIMALS)
@pytest.mark.parametrize("value", ["1", "1.0", "1.000000"])
def test_a_string_is_the_number_in_it(route: Route, value: str) -> None:
    """The body becomes the same as with the number."""
    type_ = Endpoint(route).body_type
    assert convert(body_with(route, value), type_) == convert(body_with(route, 1), type_)
