"""Values in the paths of raw routes that no address of ours holds. Generated from their table."""

import re

import pytest

from tests.api import Api
from tests.routes.conftest import Visitor
from tillhouse.app import PRODUCT
from tillhouse.http.raw import PATH_VALUE_LENGTH_MAX, RawRoute

_PARAMETER = re.compile(r"\{(\w+)\}")
# A route without a value in its path needs no such test.
RAW = [route for route in PRODUCT.pages() if _PARAMETER.search(route.path)]
# The other places of a path hold these, so that a handler gets as far as it can.
_PLAUSIBLE = {"provider": "sandbox", "digest": "0" * 64, "name": "page.css", "reference": "abc"}
_UUID = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"
_SIGNED = {
    "x-sandbox-signature": "0" * 64,
    "x-twilio-signature": "0" * 28,
    "x-hub-signature-256": "sha256=" + "0" * 64,
}
# As the server hands them on: percent-escapes are read, bytes that are no UTF-8 replaced.
BROKEN = {
    "a null byte": "\0",
    "a null byte behind a good value": _UUID + "\0",
    "an escape character": "\x1b[2J",
    "half a surrogate": "\ud800",
    "bytes that are no UTF-8": "\ufffd",
    "a mark on a mark": "a" + "\u0315\u0300" * 40,
    "too long a value": "a" * (PATH_VALUE_LENGTH_MAX + 1),
    "a megabyte": "a" * (1 << 20),
    "another script": "\u5e97",
    "a step up": "..",
}


def paths(route: RawRoute, value: str) -> list[str]:
    """The path of a route with this value in each of its places in turn."""
    names = _PARAMETER.findall(route.path)
    return [
        _PARAMETER.sub(
            lambda found, at=at: value if found[1] == at else _PLAUSIBLE.get(found[1], _UUID),
            route.path,
        )
        for at in names
    ]


def name_of(route: RawRoute) -> str:
    """The route as a test names it."""
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", RAW, ids=name_of)
async def test_a_broken_value_in_a_path_is_refused(route: RawRoute, visitor: Visitor) -> None:
    """Such a path leads nowhere, whichever of its values is broken: never a fault of ours."""
    anybody: Api = visitor.business.anybody
    answers = {
        (kind, path[:120]): answer.status
        for kind, value in BROKEN.items()
        for path in paths(route, value)
        if (answer := await anybody.request(route.method, path, raw=b"", headers=_SIGNED)).status
        not in range(400, 500)
    }
    assert not answers


def test_every_raw_route_is_known() -> None:
    """Those of payers, of providers, and of the desk."""
    assert len(RAW) >= 40
