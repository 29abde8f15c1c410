"""Invitations in the browser: what they are to, taking them, and those that are over."""

from tests.desk.browser import Browser
from tests.make import PASSWORD, Business, Make


async def test_an_invitation_is_taken_in_the_browser(
    business: Business, browser: Browser, make: Make
) -> None:
    """By the link that the mail has; the page holds for whoever has an account and for others."""
    await business.step_up()
    body = {"email": "new.cook@example.com", "role": "kitchen"}
    token = (await business.owner.post("/v1/members", body, status=201)).data["token"]
    page = await browser.open(f"/desk/join/{token}")
    for text in ("Join Ada's", "new.cook@example.com", "in the role Kitchen", "At least 10 char"):
        assert text in page.words
    page = await browser.submit(f"/desk/join/{token}", 422, name="New Cook", password="short")
    assert "Join Ada's" in page.words
    await browser.submit(f"/desk/join/{token}", name="New Cook", password="a long enough phrase")
    page = await browser.open("/desk")
    assert "Ada's" in page.words
    page = await Browser(make.elsewhere()).open(f"/desk/join/{token}", status=400)
    assert "used" in page.alerts[0]
    assert not page.forms


async def test_an_invitation_of_an_account_asks_for_its_password(
    business: Business, browser: Browser, make: Make
) -> None:
    """No name, and no new password."""
    other = await make.business()
    await business.step_up()
    body = {"email": other.email, "role": "cashier"}
    token = (await business.owner.post("/v1/members", body, status=201)).data["token"]
    page = await browser.open(f"/desk/join/{token}")
    assert "This address has an account" in page.words
    assert set(page.forms[0].fields) == {"password", "is_secret.password"}
    await browser.submit(f"/desk/join/{token}", password=PASSWORD)
    await browser.open(f"/desk/join/{token}x", status=400)
