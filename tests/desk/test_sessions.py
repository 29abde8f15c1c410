"""Signing in and out: who gets in, where one lands, and what a session is worth afterwards."""

from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.conftest import running, settings_with
from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.make import PASSWORD, Business, Make
from tillhouse.access.people import give_cookie, give_opening, renew_cookie
from tillhouse.access.process import Services
from tillhouse.desk.session.addresses import device, own_address
from tillhouse.kit.clock import now


async def test_a_person_signs_in_and_sees_the_business(
    business: Business, browser: Browser
) -> None:
    """From the bare address to the overview, by what the pages themselves offer."""
    page = await browser.open("/")
    assert "/desk/sign-in" in page.links
    assert "/desk/register" in page.links
    await browser.open("/desk/sign-in")
    await browser.submit("/desk/sign-in", email=business.email, password=PASSWORD)
    assert browser.onward == "/desk"
    page = await browser.open("/desk")
    assert "Ada's" in page.words
    await browser.open("/", status=303)
    assert browser.onward == "/desk"


async def test_a_business_is_opened_in_the_browser(browser: Browser) -> None:
    """It begins in the test book."""
    await browser.open("/desk/register")
    await browser.submit(
        "/desk/register", name="Ngozi Eze", email="ngozi.opens@example.com", password=PASSWORD,
        business_name="Eze & Daughters", business_type="restaurant", country="NG",
        currency="NGN", time_zone="Africa/Lagos",
    )  # fmt: skip
    page = await browser.open("/desk")
    assert "Eze & Daughters" in page.words
    assert page.title.startswith("[Test] ")
    assert "₦0" in page.words


async def test_a_refused_registration_keeps_what_was_typed(browser: Browser) -> None:
    """The API's own refusal stands at its field; the password alone is asked for again."""
    await browser.open("/desk/register")
    page = await browser.submit(
        "/desk/register", status=422, name="Ngozi", email="no address", password="short",
        business_name="Eze", business_type="retail", country="CI", currency="XOF",
    )  # fmt: skip
    fields = next(form for form in page.forms if form.action == "/desk/register").fields
    assert (fields["name"], fields["email"], fields["password"]) == ("Ngozi", "no address", "")
    assert (fields["country"], fields["currency"]) == ("CI", "XOF")
    assert "Nigerian naira (NGN)" in page.words
    assert "West African CFA franc (XOF)" in page.words
    wrong = [found["name"] for _, found in page.elements if "aria-invalid" in found]
    assert wrong == ["email", "password"]
    assert "2 fields need another look" in page.alerts[0]


async def test_a_wrong_password_opens_nothing(business: Business, browser: Browser) -> None:
    """No cookie, the address still there, the sentence of the API."""
    await browser.open("/desk/sign-in?next=/desk/account")
    page = await browser.submit(
        "/desk/sign-in", status=401, email=business.email, password="not the password"
    )
    assert page.alerts == ["The e-mail address or the password is wrong."]
    form = page.forms[0]
    assert (form.fields["email"], form.fields["next"]) == (business.email, "/desk/account")
    assert not browser.cookies
    assert "www-authenticate" not in browser.response.headers


async def test_one_lands_where_one_wanted_to(business: Business, browser: Browser) -> None:
    """The address that was asked for before signing in."""
    await browser.open("/desk/account", status=303)
    assert browser.onward == "/desk/sign-in?next=%2Fdesk%2Faccount"
    await browser.open(browser.onward)
    await browser.submit("/desk/sign-in", email=business.email, password=PASSWORD)
    assert browser.onward == "/desk/account"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "/desk//evil.example",
        "/desk/../../evil", "javascript:alert(1)", "/desk\r\nset-cookie: a=b", "/desks", "", None,
        "/desk/\\evil.example", "/desk?next=//evil.example", "/desk" + "/a" * 2000, "/v1/orders",
    ],
)  # fmt: skip
def test_another_site_is_never_where_one_lands(address: str | None) -> None:
    """The page is one of the desk, as odd as the form may be."""
    found = own_address(address)
    assert found == "/desk" or (address == found == "/desk/../../evil")


def test_own_pages_are_where_one_lands() -> None:
    """With their queries."""
    assert own_address("/desk/account?changed=password") == "/desk/account?changed=password"


async def test_a_session_is_nothing_that_the_api_takes(owner: Browser) -> None:
    """The API takes tokens alone and no cookie; the desk takes the cookie alone and no token."""
    cookie = "; ".join(f"{name}={value}" for name, value in owner.cookies.items())
    secret = owner.cookies["tillhouse"]
    api = owner.api
    for headers in ({"cookie": cookie}, {"authorization": f"Bearer {secret}", "cookie": cookie}):
        await api.get("/api/auth/me", headers=headers, status=401)


async def test_a_token_is_nothing_that_the_desk_takes(business: Business) -> None:
    """Not as a header, not as the cookie."""
    token = business.tokens["accessToken"]
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"tillhouse={token}"}):
        answer = await business.anybody.get("/desk", headers=headers, status=303)
        assert answer.headers["location"] == "/desk/sign-in?next=%2Fdesk"


async def test_signing_out_ends_the_session(owner: Browser) -> None:
    """The cookie is forgotten, and would be worth nothing."""
    kept = dict(owner.cookies)
    await owner.submit("/desk/sign-out")
    assert owner.response.headers["clear-site-data"] == '"cache", "storage"'
    assert "tillhouse" not in owner.cookies
    owner.cookies = kept
    await owner.open("/desk", status=303)


async def test_the_cookie_is_for_this_host_and_no_script(
    business: Business, browser: Browser
) -> None:
    """HttpOnly, of the whole host, not sent along from other sites."""
    await browser.sign_in(business.email, PASSWORD)
    cookie = browser.response.cookies[0]
    assert cookie.partition("; ")[2] == "Path=/; HttpOnly; SameSite=Lax"
    assert len(browser.cookies["tillhouse"]) == 43


async def test_the_database_keeps_no_cookie(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """A reader of the database gets in nowhere: there is only a keyed digest."""
    kept = await sql.fetchval(
        "SELECT cookie_digest FROM sessions WHERE user_id = $1 AND cookie_digest IS NOT NULL",
        business.user_id,
    )
    secret = owner.cookies["tillhouse"].encode()
    assert kept
    assert secret not in kept
    assert kept not in secret


async def test_a_planted_cookie_becomes_no_session(business: Business, browser: Browser) -> None:
    """The cookie of a browser is another one after signing in."""
    browser.cookies["tillhouse"] = "A" * 43
    await browser.sign_in(business.email, PASSWORD)
    assert browser.cookies["tillhouse"] != "A" * 43


async def test_a_cookie_that_comes_twice_is_none(owner: Browser) -> None:
    """Another host of the domain may have set one of them."""
    secret = owner.cookies["tillhouse"]
    for cookie in (f"tillhouse={secret}; tillhouse=other", f"tillhouse=other; tillhouse={secret}"):
        await owner.api.get("/desk", headers={"cookie": cookie}, status=303)


async def test_signing_in_again_ends_the_session_before(
    business: Business, browser: Browser
) -> None:
    """No browser has its cookie any more."""
    await browser.sign_in(business.email, PASSWORD)
    before = dict(browser.cookies)
    await browser.send("/desk/sign-in", {"email": business.email, "password": PASSWORD})
    await browser.open("/desk")
    browser.cookies = before
    await browser.open("/desk", status=303)


async def test_every_other_way_in_ends_the_session_before(
    business: Business, make: Make, services: Services, browser: Browser, sql: asyncpg.Connection
) -> None:
    """A login inside a form, an invitation, a new business, an address that opens once."""

    async def standing() -> int | None:
        return await sql.fetchval(
            "SELECT count(*) FROM sessions WHERE user_id = $1 AND cookie_digest IS NOT NULL "
            "AND ended_at IS NULL",
            UUID(business.user_id),
        )

    await browser.sign_in(business.email, PASSWORD)
    await browser.open("/desk/account")
    await browser.submit(
        "/desk/account/theme", theme="dark", sign_in_email=business.email,
        sign_in_password=PASSWORD,
    )  # fmt: skip
    await browser.open("/desk")
    assert await standing() == 1

    await business.step_up()
    body = {"email": "a.guest@example.com", "role": "kitchen"}
    token = (await business.owner.post("/v1/members", body, status=201)).data["token"]
    await browser.open(f"/desk/join/{token}")
    await browser.submit(f"/desk/join/{token}", name="A Guest", password="a long enough phrase")
    assert await standing() == 0

    near = Browser(Api(make.app))
    await near.sign_in(business.email, PASSWORD)
    other = await make.business()
    secret = await _opening(services, other)
    await near.open(f"/desk/open/{secret}")
    await near.submit(f"/desk/open/{secret}")
    await near.open("/desk")
    assert await standing() == 0


async def test_an_ended_session_gets_no_cookie(
    services: Services, business: Business, sql: asyncpg.Connection
) -> None:
    """Ended between the login and the cookie: the door stays shut."""
    session_id = services.tokens.read(business.tokens["accessToken"]).session_id
    await sql.execute("UPDATE sessions SET ended_at = now() WHERE id = $1", session_id)
    async with services.pool.transaction() as db:
        assert await give_cookie(services, db, session_id, "Firefox", now()) is None


async def test_a_cookie_that_was_renewed_is_good_for_a_moment(
    services: Services, owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """For pages that are under way; then it is nothing any more."""
    old = owner.cookies["tillhouse"]
    async with services.pool.transaction() as db:
        assert await renew_cookie(services, db, old, "Firefox", now(), keeps_old=True)
        assert await renew_cookie(services, db, old, "Firefox", now(), keeps_old=True) is None
    await owner.open("/desk")
    await sql.execute(
        "UPDATE sessions SET cookie_renewed_at = now() - interval '31 seconds' "
        "WHERE user_id = $1 AND cookie_digest IS NOT NULL",
        business.user_id,
    )
    await owner.open("/desk", status=303)


async def test_a_database_that_takes_no_writes_still_shows_pages(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """The session can't be prolonged then, which is no reason to show nothing."""
    await sql.execute(
        "UPDATE sessions SET expires_at = expires_at - interval '1 hour' "
        "WHERE user_id = $1 AND cookie_digest IS NOT NULL",
        business.user_id,
    )
    await sql.execute(
        "CREATE FUNCTION refuse_renewal() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE read_only_sql_transaction; END $$"
    )
    await sql.execute(
        f"CREATE TRIGGER refuse_renewal BEFORE UPDATE ON sessions FOR EACH ROW "
        f"WHEN (OLD.user_id = '{business.user_id}') EXECUTE FUNCTION refuse_renewal()"
    )
    try:
        await owner.open("/desk")
    finally:
        await sql.execute("DROP FUNCTION refuse_renewal CASCADE")


async def test_a_page_opened_by_another_address_says_which(
    make: Make, business: Business, master_key: str, database_url: str
) -> None:
    """The cookie is for HTTPS: a browser would drop it, and one would sign in for ever."""
    settings = settings_with(PUBLIC_URL="https://till.example")
    async with running(settings, database_url, master_key) as app:
        browser = Browser(Api(app))
        browser.api.headers |= {"host": "shop.lan", "origin": "http://shop.lan"}
        page = await browser.send(
            "/desk/sign-in", {"email": business.email, "password": PASSWORD}, status=403
        )
        assert "https://till.example" in page.words
        browser.api.headers |= {"host": "internal", "origin": "https://till.example"}
        fields = f"email={business.email}&password={PASSWORD.replace(' ', '+')}".encode()
        await browser.send_raw("/desk/sign-in", fields, 303, None)
        assert "__Host-tillhouse" in browser.cookies
        assert "Secure" in browser.response.cookies[0]
        await browser.open("/desk")
        assert browser.response.headers["cross-origin-opener-policy"] == "same-origin"


async def test_a_session_that_is_not_used_ends(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """Twelve hours after its last use; one that is used goes on."""

    async def ends_in() -> float:
        found: float | None = await sql.fetchval(
            "SELECT extract(epoch FROM expires_at - now())::float8 FROM sessions "
            "WHERE user_id = $1 AND cookie_digest IS NOT NULL",
            business.user_id,
        )
        assert found is not None
        return found

    async def age(hours: int) -> None:
        await sql.execute(
            "UPDATE sessions SET expires_at = expires_at - make_interval(hours => $2) "
            "WHERE user_id = $1 AND cookie_digest IS NOT NULL",
            business.user_id, hours,
        )  # fmt: skip

    await age(11)
    await owner.open("/desk")
    assert await ends_in() > 11.5 * 3600
    await age(13)
    await owner.open("/desk", status=303)


async def test_who_is_removed_is_out_at_once(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """With the next page."""
    member = await make.member(business, "manager")
    theirs = await signed_in(member)
    await business.step_up()
    await business.owner.delete(f"/v1/members/{member.user_id}", status=200)
    await theirs.open("/desk")
    assert "Ada's" not in theirs.page.words or business.id not in str(theirs.response.body)
    await theirs.open("/desk/account")
    assert all(form.fields.get("made_for") != business.id for form in theirs.page.forms)


async def test_an_address_opens_a_session_once(
    business: Business, services: Services, browser: Browser, make: Make
) -> None:
    """From this machine alone, by a button, and no second time."""
    secret = await _opening(services, business)
    far = Browser(make.elsewhere())
    await far.open(f"/desk/open/{secret}", status=403)
    near = Browser(Api(make.app))
    await near.open(f"/desk/open/{secret}")
    assert not near.cookies
    await near.submit(f"/desk/open/{secret}")
    page = await near.open("/desk")
    assert page.title.startswith("[Test] ")
    again = Browser(Api(make.app))
    await again.open(f"/desk/open/{secret}")
    page = await again.submit(f"/desk/open/{secret}", status=404)
    assert "was used" in page.alerts[0]


async def test_an_address_is_good_for_ten_minutes(
    business: Business, services: Services, make: Make, sql: asyncpg.Connection
) -> None:
    """And its secret is no cookie."""
    secret = await _opening(services, business)
    near = Browser(Api(make.app))
    near.cookies["tillhouse"] = secret
    await near.open("/desk", status=303)
    await sql.execute(
        "UPDATE sessions SET expires_at = now() - interval '1 second' "
        "WHERE user_id = $1 AND cookie_digest IS NOT NULL",
        business.user_id,
    )
    await near.open(f"/desk/open/{secret}")
    await near.submit(f"/desk/open/{secret}", status=404)


async def _opening(services: Services, business: Business) -> str:
    session_id = services.tokens.read(business.tokens["accessToken"]).session_id
    async with services.pool.transaction() as db:
        secret = await give_opening(services, db, session_id, now())
    assert secret is not None
    return secret


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
         "Firefox on Linux"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
         "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
         "Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge on Windows"),
        ("curl/8.0", "Unknown browser"), (None, "Unknown browser"),
        ("<b>" * 1000, "Unknown browser"),
    ],
)  # fmt: skip
def test_devices_have_short_names(said: str | None, name: str) -> None:
    """Words of ours, never those of the client."""
    assert device(said) == name
