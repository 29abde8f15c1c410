"""People at browsers."""

from collections.abc import Awaitable, Callable

import pytest

from tests.desk.browser import Browser
from tests.make import PASSWORD, Business, Make

SignsIn = Callable[[Business], Awaitable[Browser]]


@pytest.fixture
def browser(make: Make) -> Browser:
    """A browser that nobody has used, in a network of its own."""
    return Browser(make.elsewhere())


@pytest.fixture
def signed_in(make: Make) -> SignsIn:
    """Signs a person in, in the business of its session and its test book, in another browser."""

    async def sign_in(person: Business) -> Browser:
        found = Browser(make.elsewhere())
        await found.sign_in(person.email, PASSWORD)
        await found.open("/desk/account")
        for form in found.page.forms:
            if form.action == "/desk/business":
                await found.send("/desk/business", {**form.fields, "business_id": person.id})
                await found.open("/desk/account")
        await found.submit("/desk/mode", mode="test")
        await found.open("/desk")
        return found

    return sign_in


@pytest.fixture
async def owner(business: Business, signed_in: SignsIn) -> Browser:
    """The owner of this test's business, on the overview of the test book."""
    return await signed_in(business)
