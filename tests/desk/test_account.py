"""The account: devices, password, appearance, stores and businesses."""

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make

_NEW = "another long enough phrase"


async def test_a_password_is_changed(
    owner: Browser, business: Business, signed_in: SignsIn, browser: Browser
) -> None:
    """Other devices are out, this one goes on by another cookie, the old one is nothing."""
    other = await signed_in(business)
    await owner.open("/desk/account")
    before = owner.cookies["tillhouse"]
    page = await owner.submit(
        "/desk/account/password", status=200, current_password=PASSWORD, new_password=_NEW
    )
    assert "Your password was changed" in page.words
    assert owner.cookies["tillhouse"] != before
    await other.open("/desk", status=303)
    owner.cookies["tillhouse"] = before
    await owner.open("/desk", status=303)
    await browser.sign_in(business.email, _NEW)


async def test_a_refused_password_says_so_at_its_field(owner: Browser) -> None:
    """By the API's own rule; a wrong one is said above the form, and no password is kept."""
    await owner.open("/desk/account")
    page = await owner.submit(
        "/desk/account/password", status=422, current_password=PASSWORD, new_password="short"
    )
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == [
        "new_password"
    ]
    assert owner.response.headers["cache-control"] == "no-store"
    page = await owner.submit(
        "/desk/account/password", status=403, current_password="wrong", new_password=_NEW
    )
    assert page.alerts == ["The password is wrong."]
    assert PASSWORD not in owner.response.body.decode()


async def test_devices_are_listed_and_signed_out(
    owner: Browser, business: Business, signed_in: SignsIn
) -> None:
    """By their names; one by one, or all but this one."""
    second, third = await signed_in(business), await signed_in(business)
    page = await owner.open("/desk/account")
    assert page.words.count("Firefox on Linux") >= 3
    assert "API login" in page.words
    ends = [form for form in page.forms if form.action.endswith("/end")]
    assert len(ends) == 4
    listed = (await business.owner.get("/api/auth/sessions", status=200)).data
    newest = next(one["id"] for one in listed if one["device"])
    await owner.submit(f"/desk/account/sessions/{newest}/end")
    statuses = [
        (await one.api.get("/desk", headers=_cookie(one))).status for one in (second, third)
    ]
    assert sorted(statuses) == [200, 303]
    await owner.open("/desk/account")
    await owner.submit("/desk/account/end-others")
    page = await owner.open("/desk/account")
    assert len([form for form in page.forms if form.action.endswith("/end")]) == 1
    await business.owner.get("/api/auth/me", status=401)


async def test_somebody_elses_device_is_not_found(owner: Browser, make: Make) -> None:
    """Nor ended."""
    other = await make.business()
    theirs = (await other.owner.get("/api/auth/sessions", status=200)).data[0]["id"]
    await owner.open("/desk/account")
    fields = owner.page.forms[0].fields
    await owner.send(f"/desk/account/sessions/{theirs}/end", fields, status=404)
    await other.owner.get("/api/auth/me", status=200)


async def test_light_and_dark(owner: Browser) -> None:
    """The server writes it into the page, so that nothing flashes."""
    for theme in ("dark", "light"):
        await owner.open("/desk/account")
        await owner.submit("/desk/account/theme", theme=theme)
        page = await owner.open("/desk")
        assert page.elements[0][1]["data-theme"] == theme
    await owner.open("/desk/account")
    await owner.submit("/desk/account/theme", theme="")
    page = await owner.open("/desk")
    assert "data-theme" not in page.elements[0][1]


async def test_what_is_no_choice_is_not_found(owner: Browser) -> None:
    """A theme, a mode, a store, a business that there isn't."""
    await owner.open("/desk/account")
    fields = owner.page.forms[0].fields
    nobody = "019b8d41-8500-71b2-97ea-77a13923edcf"
    for path, name, value in (
        ("/desk/account/theme", "theme", "pink"), ("/desk/mode", "mode", "both"),
        ("/desk/store", "store_id", nobody), ("/desk/business", "business_id", nobody),
    ):  # fmt: skip
        await owner.send(path, fields | {name: value}, status=404)


async def test_a_store_is_chosen(owner: Browser, business: Business) -> None:
    """Its figures alone are shown, and its name stands in the frame."""
    store = await business.store(name="Yaba")
    product = {"items": [{"product_name": "Tea", "quantity": 1, "custom_price": 500}]}
    await business.made("/v1/orders", {**product, "store_id": store["id"]})
    await business.made("/v1/orders", product)
    assert "1,000" in (await owner.open("/desk")).words
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=store["id"])
    page = await owner.open("/desk")
    assert "Yaba" in page.words
    assert "1,000" not in page.words
    await owner.open("/desk/account")
    assert named(owner.page, name="store_id", value=store["id"])[0]["aria-pressed"] == "true"


async def test_another_business_is_chosen(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A member of two sees the one that was chosen, with the role there."""
    member = await make.member(business, "cashier")
    theirs = await signed_in(member)
    page = await theirs.open("/desk/account")
    assert "Cashier of Ada's" in page.words
    home = next(
        found["value"] for _, found in page.elements
        if found.get("name") == "business_id" and found["value"] != business.id
    )  # fmt: skip
    await theirs.submit("/desk/business", business_id=home or "")
    page = await theirs.open("/desk/account")
    assert "Owner of Ada's" in page.words


def _cookie(browser: Browser) -> dict[str, str]:
    return {"cookie": f"tillhouse={browser.cookies['tillhouse']}"}
