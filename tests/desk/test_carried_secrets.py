"""Secrets of a form that is carried along while somebody signs in or proves the password."""

from datetime import timedelta
from html import unescape

from tests.desk.browser import Browser, PageParts, named
from tests.desk.test_connections import KEYS, PAYSTACK, SECRET, go_live, read
from tests.desk.test_numbers import CALLED, SIP, TELEPHONES, told
from tests.desk.test_numbers import PASSWORD as SIP_PASSWORD
from tests.make import PASSWORD, Business
from tillhouse.access.process import Services
from tillhouse.desk.rendering import TEMPLATES
from tillhouse.desk.session.carrying import write
from tillhouse.kit.clock import now

ADD = f"{TELEPHONES}/new?provider=sip"
THEME = "/desk/account/theme"


async def _fields(owner: Browser, page: str, action: str) -> dict[str, str]:
    await go_live(owner)
    await owner.open(page)
    return next(form for form in owner.page.forms if form.action == action).fields


async def _keys(owner: Browser) -> dict[str, str]:
    fields = await _fields(owner, PAYSTACK, KEYS)
    del fields["check"]
    return fields


async def test_a_form_with_a_key_is_sent_on(owner: Browser, business: Business) -> None:
    """None of the pages that it waits in holds the key, and it needn't be typed again."""
    typed = await _keys(owner) | {"secrets.secret_key": SECRET}
    del owner.cookies["tillhouse"]
    await owner.send(KEYS, typed, 401)
    assert SECRET not in owner.response.body.decode()
    await owner.submit(KEYS, 401, sign_in_email=business.email, sign_in_password="wrong")
    await owner.submit(KEYS, 200, sign_in_email=business.email, sign_in_password=PASSWORD)
    assert "Confirm it is you" in owner.page.words
    assert SECRET not in owner.response.body.decode()
    await owner.submit(KEYS, 403, step_up_password="wrong")
    await owner.submit(KEYS, step_up_password=PASSWORD)
    assert (await read(business))["status"] == "connected"


async def test_a_secret_is_known_by_its_field(owner: Browser, business: Business) -> None:
    """And not by its name: the macro that writes a password field marks it."""
    field = TEMPLATES.from_string(
        "{% import 'frame/macros.html' as m %}<form>{{ m.field('pin', 'PIN', {}, type=type) }}"
    )
    typed = {"theme": "dark"}
    for kind, is_hidden in (("password", True), ("text", False)):
        own = PageParts(field.render(type=kind)).forms[0].fields | {"pin": "four-seven-one"}
        await owner.open("/desk/account")
        fields = next(form for form in owner.page.forms if form.action == THEME).fields | own
        session = owner.cookies.pop("tillhouse")
        await owner.send(THEME, fields | typed, 401)
        assert ("four-seven-one" not in owner.response.body.decode()) == is_hidden
        assert bool(named(owner.page, name="carried_secrets")) == is_hidden
        await owner.submit(THEME, sign_in_email=business.email, sign_in_password=PASSWORD)
        assert owner.cookies["tillhouse"] != session


async def test_the_password_of_a_trunk_is_sent_on(owner: Browser, business: Business) -> None:
    """Though it is called as passwords of people are."""
    typed = await _fields(owner, ADD, f"{TELEPHONES}/new") | SIP
    del owner.cookies["tillhouse"]
    await owner.send(f"{TELEPHONES}/new", typed, 401)
    assert SIP_PASSWORD not in unescape(owner.response.body.decode())
    await owner.submit(f"{TELEPHONES}/new", sign_in_email=business.email, sign_in_password=PASSWORD)
    assert [one["label"] for one in await told(business, CALLED)] == ["Front desk"]


async def test_a_form_is_not_sent_on_without_its_secrets(
    owner: Browser, business: Business, services: Services
) -> None:
    """After ten minutes, of another form or book, or broken: the refusal says what to do."""
    fields = await _keys(owner)
    secrets, form = [("secrets.secret_key", SECRET)], f"{KEYS} {fields['made_for']}"
    late = write(services.vault, secrets, form, now() - timedelta(minutes=10))
    of_another = write(services.vault, secrets, f"{TELEPHONES} {fields['made_for']}", now())
    of_another_book = write(services.vault, secrets, f"{KEYS} other", now())
    for text in (late, of_another, of_another_book, "broken", "\u00e9", ""):
        page = await owner.send(KEYS, fields | {"carried_secrets": text}, 409)
        assert "enter them anew" in page.alerts[0]
    good = write(services.vault, secrets, form, now())
    await owner.send(KEYS, fields | {"carried_secrets": good}, 200)
    assert "Confirm it is you" in owner.page.words
    assert named(owner.page, name="carried_secrets")
    assert (await read(business))["status"] != "connected"
