"""No form holds the event loop, be it as large as it may: a stranger's, and a person's own."""

from urllib.parse import urlencode

import pytest

from tests.api import Response
from tests.desk.browser import Browser
from tests.held_loop import HELD_S, held_s, note
from tests.make import Business
from tillhouse.desk.session.forms import BYTES_MAX, FIELDS_MAX

_FULL = BYTES_MAX - 500
FORMS: dict[str, bytes] = {
    "one text of marks": b"a=" + b'"' * _FULL,
    "one text that is escaped": b"a=" + b"%22" * (_FULL // 3),
    "as many fields as may be": b"&".join(b"field%d=%%3C" % n for n in range(FIELDS_MAX - 10)),
    "one name": b"a" * _FULL,
    "a long cart": b"cart=" + b"x_0_5_41~" * (_FULL // 9),
    "many lines": b"&".join(b"lines.%032d=1" % n for n in range(FIELDS_MAX - 10)),
}


@pytest.mark.parametrize("kind", FORMS)
async def test_no_form_of_a_stranger_holds_the_loop(kind: str, browser: Browser) -> None:
    """It is carried into the page that asks for a login."""

    async def send() -> Response:
        await browser.send_raw("/desk/account/theme", FORMS[kind], 401, "same-origin")
        return browser.response

    seconds = await held_s(send)
    note("POST /desk/account/theme", kind, seconds)
    assert seconds <= HELD_S


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("path", ["/desk/sell/record", "/desk/products/new", "/desk/customers/new"])
async def test_no_form_of_a_person_holds_the_loop(
    path: str, kind: str, owner: Browser, business: Business
) -> None:
    """It is refused, and shown again with all that was typed."""
    assert business
    page = await owner.open(path.removesuffix("/record"))
    fields = next(form.fields for form in page.forms if "csrf" in form.fields)
    own = urlencode({name: fields[name] for name in ("csrf", "made_for")})
    body = f"{own}&".encode() + FORMS[kind]

    async def send() -> Response:
        await owner.send_raw(path, body, 422, "same-origin")
        return owner.response

    seconds = await held_s(send)
    note(f"POST {path}", kind, seconds)
    assert seconds <= HELD_S
