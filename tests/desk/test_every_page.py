"""Rules of every page: headers, no inline code, budgets, escaped texts, known sentences."""

import gzip
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from tests.api import Response
from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.world import World, fill, fill_all
from tests.make import Business, Make
from tillhouse.app import App
from tillhouse.desk import assets
from tillhouse.desk.frame.sentences import SENTENCES
from tillhouse.desk.pages import PAGES
from tillhouse.kit.ids import new_id

DOOR = (
    "/", "/desk/sign-in", "/desk/register", "/desk/join/some-token", "/desk/open/some-secret",
    "/desk/forgot", "/desk/reset/some-token",
)  # fmt: skip
INSIDE = tuple(page.path for page in PAGES if page.method == "GET" and not page.is_open)
DESK = Path(str(files("tillhouse.desk")))
TEMPLATES = sorted(DESK.rglob("*.html"))
POLICY = "default-src 'none'; style-src 'self'; script-src 'self'"
# Bytes that a first visit may take, compressed, without the font, which is loaded once.
PAGE_BYTES, OWN_BYTES, FONT_BYTES, REQUESTS = 20_000, 3_000, 45_000, 12
SHARED = {
    "tokens.css", "app.css", "parts.css", "copy.js", "keys.js", "swap.js", "filter.js", "live.js",
}  # fmt: skip
HOSTILE = (
    '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}", "javascript:alert(1)", "</title><svg onload=alert(1)>", "&lt;b&gt;",
)  # fmt: skip


def check_safe(browser: Browser, referrer: str = "same-origin") -> None:
    """Nothing in the page runs or styles by itself, and the policy forbids what would."""
    page, headers = browser.page, browser.response.headers
    assert headers["content-security-policy"].startswith(POLICY)
    assert headers["referrer-policy"] == referrer
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    for tag, found in page.elements:
        inline = {name for name in found if name == "style" or name.startswith("on")}
        assert not inline, (tag, found)
        assert tag != "style"
        assert tag != "script" or found.get("src")


async def check_small(browser: Browser) -> None:
    """The page, its style and its scripts take few bytes and few requests."""
    body = browser.response.body
    names = re.findall(r"/desk/assets/\w+/([\w.-]+)", body.decode())
    sizes = {name: await _sent_bytes(browser, name) for name in set(names)}
    code = {name: size for name, size in sizes.items() if name.endswith((".css", ".js"))}
    assert len(gzip.compress(body, 5)) + sum(code.values()) <= PAGE_BYTES
    assert sum(size for name, size in code.items() if name not in SHARED) <= OWN_BYTES
    assert len(sizes) + 2 <= REQUESTS


async def _sent_bytes(browser: Browser, asset: str) -> int:
    answer = await browser.api.get(
        assets.address(asset), headers={"accept-encoding": "gzip"}, status=200
    )
    return len(answer.body)


@pytest.mark.parametrize("path", DOOR)
async def test_the_door_is_safe_and_kept_by_no_browser(path: str, make: Make) -> None:
    """Somebody else may sit at it next."""
    browser = Browser(make.anybody)
    await browser.open(path, 400 if "token" in path else 200)
    check_safe(browser, "no-referrer" if "reset" in path else "same-origin")
    assert browser.response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", DOOR)
async def test_the_door_is_small(path: str, make: Make) -> None:
    """With its style, on a first visit and compressed."""
    browser = Browser(make.anybody)
    await browser.open(path, 400 if "token" in path else 200)
    await check_small(browser)


@pytest.fixture(scope="module")
async def full(app: App) -> tuple[Business, World]:
    """A business with ten of everything, for those tests that only look."""
    business = await Make(app, app.services).business()
    world = await fill_all(business, "Jollof rice and grilled chicken")
    for _ in range(9):
        await fill(business, "Jollof rice and grilled chicken")
    return business, world


@pytest.fixture
async def browsing(full: tuple[Business, World], signed_in: SignsIn) -> Browser:
    """Its owner, in the test book."""
    return await signed_in(full[0])


@pytest.mark.parametrize("path", INSIDE)
async def test_a_page_is_safe_and_asked_for_again(
    path: str, browsing: Browser, full: tuple[Business, World]
) -> None:
    """It is private, and what is shown again was asked for again."""
    await browsing.open(full[1].address(path))
    check_safe(browsing)
    assert browsing.response.headers["cache-control"] == "private, no-cache"
    assert browsing.response.headers["vary"] == "Cookie, Accept-Encoding, Tillhouse-Block"


@pytest.mark.parametrize("path", INSIDE)
async def test_a_page_needs_somebody(path: str, browser: Browser) -> None:
    """And leads to the door otherwise."""
    await browser.open(re.sub(r"\{\w+\}", str(new_id()), path), status=303)
    assert browser.onward.startswith("/desk/sign-in?next=")


@pytest.mark.parametrize("path", INSIDE)
async def test_a_page_is_small(path: str, browsing: Browser, full: tuple[Business, World]) -> None:
    """With its style and its scripts, on a first visit and compressed."""
    await browsing.open(full[1].address(path))
    await check_small(browsing)


def test_a_password_field_is_written_by_the_macro() -> None:
    """Which marks it: by that alone a form that is carried along knows a secret."""
    for template in TEMPLATES:
        own = template.read_text("utf-8")
        assert not re.search(r"<input[^>]*type=[\"']?password", own), template


def test_a_style_sheet_loses_nothing_but_its_looks() -> None:
    """Strings stay as they are, and so do the spaces between the parts of a value or a selector."""
    style = """
    /* A remark: { } "quoted" */
    .a > .b:hover , .c :is(p, q) { /* why */
      margin: 0 calc(1rem + 2px) ; content: "a  /* b */ > c";
    }
    @media (width >= 60rem) { .d { color: var(--e) } }
    """
    assert assets.lean(style) == (
        '.a>.b:hover,.c :is(p,q){margin:0 calc(1rem + 2px);content:"a  /* b */ > c";}'
        "@media (width>= 60rem){.d{color:var(--e)}}"
    )


def test_importing_the_desk_reads_no_file() -> None:
    """A process that serves no page spends nothing on style sheets."""
    program = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import tillhouse.desk.pages\n"
        "print([name for name in opened if 'desk/static/' in name])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert ran.stdout == "[]\n"


async def test_a_page_is_sent_compressed(owner: Browser) -> None:
    """Where the browser takes it."""
    answer = await owner.api.get(
        "/desk", headers={"cookie": f"tillhouse={owner.cookies['tillhouse']}",
                          "accept-encoding": "gzip, br"}
    )  # fmt: skip
    assert answer.headers["content-encoding"] == "gzip"
    assert b"</html>" in gzip.decompress(answer.body)


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_text_becomes_code(text: str, make: Make, signed_in: SignsIn) -> None:
    """Names of people, businesses, goods and customers, and notes, as they come from outside."""
    business = await make.business(name=text, business_name=text)
    world = await fill_all(business, text)
    browser = await signed_in(business)
    for path in INSIDE:
        page = await browser.open(world.address(path))
        check_safe(browser)
        assert text in page.words or text in page.title
        images = [found["src"] or "" for tag, found in page.elements if tag == "img"]
        assert all(re.fullmatch(r"/pay/\w+/qr\.svg", image) for image in images)


@pytest.mark.parametrize("text", HOSTILE)
async def test_no_address_becomes_code(text: str, owner: Browser) -> None:
    """The words of a query are text where it comes back."""
    for path in ("/desk/sign-in", "/desk", "/desk/account"):
        await owner.open(f"{path}?next={text}&changed={text}".replace(" ", "+").replace("#", ""),
                         status=303 if path.endswith("in") else 200)  # fmt: skip
        if owner.response.status == 200:
            check_safe(owner)


async def test_files_are_kept_for_ever(make: Make) -> None:
    """By an address of their content; another version's page gets them, and keeps nothing."""
    address = assets.address("app.css")
    for path, caching in (
        (address, "public, max-age=31536000, immutable"),
        ("/desk/assets/000000000000/app.css", "no-cache"),
    ):
        answer: Response = await make.anybody.get(path, status=200)
        assert answer.headers["cache-control"] == caching
        assert answer.headers["content-type"] == "text/css; charset=utf-8"
    await make.anybody.get(address.replace("app.css", "english.toml"), status=404)
    assert len((DESK / "static" / "inter.woff2").read_bytes()) <= FONT_BYTES


_TAGS = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<[^>]*>|&\w+;", re.DOTALL)
_WORDS_OF_ATTRIBUTES = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"]*)"')
_CODE = re.compile(r"<code>.*?</code>|\{%\s*set ICONS.*?%\}", re.DOTALL)
_SENTENCE = re.compile(r"\b[tn]\('([a-z_.]+)'((?:,|\s|\))(?:[^()]|\([^()]*\))*)")


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(DESK)))
def test_every_sentence_is_in_the_catalogue(path: Path) -> None:
    """A template writes none itself, neither between its tags nor in an attribute."""
    text = _CODE.sub("", path.read_text())
    attributes = [_TAGS.sub("", found) for found in _WORDS_OF_ATTRIBUTES.findall(text)]
    written = [*_TAGS.sub("\n", text).splitlines(), *attributes]
    assert not [line for line in written if re.search(r"[A-Za-z]{2}", line)]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(DESK)))
def test_every_sentence_that_a_template_names_exists(path: Path) -> None:
    """With the values that it needs."""
    for name, rest in _SENTENCE.findall(path.read_text()):
        known = [one for one in SENTENCES if one == name or one.startswith(f"{name}.")]
        known += [one for one in SENTENCES if name.endswith(".") and one.startswith(name)]
        assert known, name
        given = set(re.findall(r"(\w+)=", rest))
        for one in known:
            needed = set(re.findall(r"\{(\w+)\}", SENTENCES[one])) - {"count"}
            assert needed <= given, (one, needed, given)


def test_no_sentence_is_left_over() -> None:
    """Each is used by a template, or by the code that builds its name."""
    used = "\n".join(path.read_text() for path in [*TEMPLATES, *DESK.rglob("*.py")])
    built = {
        "nav.", "kind.", "method.", "payment.", "kitchen.", "role.", "overview.greeting.",
        "account.theme.", "orders.view.", "order_page.", "channel.", "service.", "source.",
        "order.", "tender.", "dispute.", "refusal.other_mode.", "sell.no_", "sell.option.",
        "begin.", "attention.", "delivery.", "field.",
        "link.", "link_target.", "link_condition.", "link_fact.", "links.view.",
        "finance.part.", "finance.preset.", "finance_sum.", "finance_counted.", "transaction.",
        "transaction_fact.", "transaction_type.", "transactions.", "debt.", "debts.view.",
        "disputes.view.", "dispute_fact.", "debts.", "disputes.", "expenses.",
        "wallet_entry.", "wallet_sum.", "withdrawal.", "withdrawal_fact.", "withdrawals.",
        "payout_account.", "account_fact.", "opens.", "other_amounts.", "abilities.", "provider.",
        "provider_fact.", "secret.", "place.", "step_up_for.",
        "messaging.", "messaging_number.", "messaging_provider.", "messaging_fact.",
        "telephones.about.", "telephones.count.", "voice_provider.", "voice_number.", "voice_fact.",
        "voice_call.",
        "machine_detection.",
        "area.", "right.",
        "type.", "policy.", "product.", "products.view.",
        "stock.state.", "move.", "choices.", "count.", "transfer.", "promotion.",
        "api_key.", "api_key_fact.", "api_key_bound.", "api_key_preset.",
        "api_keys.about.", "api_keys.new_in.",
        "api_keys.told.", "api_keys.once.", "api_keys.scopes.", "risk.", "nav_head.",
        "webhooks.about.", "webhooks.event_count.", "webhooks.failures.",
        "webhooks.until_disabled.",
        "webhooks.counted.", "webhooks.recovered.", "webhooks.done_", "recover.", "endpoint.",
        "endpoint_fact.", "phase.", "signing.told.", "language.",
        "first_call.", "logs.part.", "logs.about.", "logs.count.", "usage.more.",
        "usage.stored_kind.",
        "promotions.active", "promotions.inactive", "products.active", "products.inactive",
        "settings.", "tax_inclusive.", "currency.", "also.",
    }  # fmt: skip
    left = [
        name
        for name in SENTENCES
        if f"'{name}'" not in used
        and f'"{name}"' not in used
        and not name.startswith(tuple(built))
        and f"'{name.rpartition('.')[0]}'" not in used
        and not name.startswith(("frame.test", "frame.live"))
    ]
    assert not left
