"""Tests of goods: the roles, what the API tells, and the forms of a page."""

from typing import Any

from tests.desk.browser import Browser, PageForm, PageParts
from tests.make import Business

TEST = {"service-environment": "test"}
WRITES = {"owner", "admin", "manager"}
READS = WRITES | {"developer", "cashier", "front_desk"}


async def read(business: Business, path: str) -> Any:
    """An answer of the API about the test book."""
    return (await business.owner.get(path, headers=TEST, status=200)).data


def wrong(page: PageParts) -> list[str | None]:
    """The fields that are marked as wrong."""
    return [found["name"] for _, found in page.elements if "aria-invalid" in found]


def copies(browser: Browser) -> list[Browser]:
    """The same browser twice, to send the same form from both at once."""
    found = [Browser(browser.api), Browser(browser.api)]
    for one in found:
        one.cookies = dict(browser.cookies)
    return found


def form_of(page: PageParts, action: str) -> PageForm:
    """The form that goes to an address."""
    return next(form for form in page.forms if form.action == action and form.method == "post")
