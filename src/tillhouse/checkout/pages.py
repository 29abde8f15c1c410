"""The hosted checkout: the page of a link, and the actions of its payer."""

import asyncio
import io
import re
from functools import lru_cache
from urllib.parse import parse_qsl

import msgspec
import segno

from tillhouse.access.process import Services
from tillhouse.checkout import attempts, page
from tillhouse.checkout.actions import page_url
from tillhouse.checkout.applying import apply_now
from tillhouse.checkout.attempts import Attempts
from tillhouse.checkout.live import LivePages
from tillhouse.checkout.page_rules import LinkPage, result
from tillhouse.checkout.redirect_rules import with_result
from tillhouse.checkout.store import pages as store
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Forbidden, Invalid, Missing, existing
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.json import encode
from tillhouse.kit.values import Email

_REFERENCE_MAX = 64
_FORM_MAX = 1024
# Each is some 8 KB; the address of a link never changes.
_IMAGES_KEPT = 256
_VERSION = re.compile(r"[A-Za-z0-9._-]{1,120}")


class NoLink(
    Missing,
    message="There is no payment link at this address. Ask whoever sent it for a new one.",
):
    """Mistyped, or never given out: all look alike."""


class Checkout:
    """The pages of links, in one process."""

    def __init__(self) -> None:
        self._live = LivePages()
        self._attempts = attempts.Attempts()
        self._drawing = asyncio.Lock()

    async def show(self, services: Services, asked: RawRequest) -> RawAnswer:
        """The page, with an account to pay into while somebody is asked to pay."""
        link = await _find(services, asked)
        trouble = None
        if link.is_payable and not link.has_account(asked.now):
            trouble = await self._attempts.open(services, link)
            link = await _find(services, asked)
        return page.payment_page(
            link,
            asked.now,
            trouble=trouble,
            has_left=asked.query.get("left") == "1",
            is_wrong_email=asked.query.get("email") == "wrong",
        )

    async def draw(self, services: Services, asked: RawRequest) -> RawAnswer:
        """The address of the page as an image."""
        link = await _find(services, asked)
        url = page_url(services.settings.public_url, link.reference)
        # It takes more than ten milliseconds: many at once would take the interpreter.
        async with self._drawing:
            drawn = await asyncio.to_thread(image, url)
        return RawAnswer("image/svg+xml", drawn, headers=[(b"x-robots-tag", b"noindex")])

    async def tell(self, services: Services, asked: RawRequest) -> RawAnswer:
        """The version of the page that there is now."""
        link = await _find(services, asked)
        return RawAnswer("application/json", encode({"version": link.version}))

    async def follow(self, services: Services, asked: RawRequest) -> RawAnswer:
        """An event when the page has changed."""
        link = await _find(services, asked)
        self._live.check(asked.ip)
        known = asked.query.get("v", "")
        version = known if _VERSION.fullmatch(known) else link.version
        pieces = self._live.follow(services.pool, asked.ip, link.reference, version)
        return RawAnswer("text/event-stream", pieces)

    async def go_on(self, services: Services, asked: RawRequest) -> RawAnswer:
        """Back to the shop when there is nothing left to pay, else to the page."""
        return _onward(await _find(services, asked))

    async def check(self, services: Services, asked: RawRequest) -> RawAnswer:
        """Ask the provider whether the payment has come."""
        _check_own(asked)
        link = await _find(services, asked)
        if await self._attempts.ask(services, link):
            await apply_now(services, BookKey(BookId(link.book_id), link.id))
        return _onward(await _find(services, asked))

    async def open_for(self, services: Services, asked: RawRequest) -> RawAnswer:
        """Open an account for the payer's e-mail address, where the provider needs it."""
        _check_own(asked)
        link = await _find(services, asked)
        back = f"/pay/{link.reference}"
        try:
            email = str(Email.from_wire(_form(asked).get("email", "")))
        except ValueError:
            return page.see_other(back + "?email=wrong")
        trouble = None
        if link.is_payable and not link.has_account(asked.now):
            trouble = await self._attempts.open(services, link, email)
        if trouble is None:
            return page.see_other(back)
        return page.payment_page(await _find(services, asked), asked.now, trouble=trouble)

    async def leave(self, services: Services, asked: RawRequest) -> RawAnswer:
        """Back to the shop without paying; the link stays as it is."""
        _check_own(asked)
        link = await _find(services, asked)
        if link.redirect_url is None:
            return page.see_other(f"/pay/{link.reference}?left=1")
        return page.see_other(with_result(link.redirect_url, result(link), link.reference))

    async def simulate(self, services: Services, asked: RawRequest) -> RawAnswer:
        """Let a payment happen, in a test book."""
        _check_own(asked)
        link = await _find(services, asked)
        if link.environment != "test":
            raise NoLink
        case = _form(asked).get("case")
        if case not in dict(page.CASES):
            raise Invalid.field("case", "is none of those on the page")
        await self._attempts.simulate(services, link, case)
        return page.see_other(f"/pay/{link.reference}")


@lru_cache(maxsize=_IMAGES_KEPT)
def image(url: str) -> bytes:
    """The address of a page as a QR code, drawn once as long as it is asked for."""
    drawn = io.BytesIO()
    segno.make_qr(url, error="m").save(
        drawn, kind="svg", xmldecl=False, omitsize=True, svgclass=None, lineclass=None,
        title="Scan to pay", dark="#111", light="#fff", border=4,
    )  # fmt: skip
    return drawn.getvalue()


async def give_asset(_services: Services, asked: RawRequest) -> RawAnswer:
    """A file of the page."""
    found = page.asset(asked.path["name"])
    if found is None:
        raise Missing
    return found


async def _find(services: Services, asked: RawRequest) -> LinkPage:
    reference = asked.path["reference"]
    if len(reference) > _REFERENCE_MAX or not reference.isascii():
        raise NoLink
    async with services.pool.reading() as db:
        row = await store.find_page(db, reference, asked.now)
    if row is None:
        raise NoLink
    return LinkPage(**row)


def _onward(link: LinkPage) -> RawAnswer:
    if link.redirect_url is None or link.status == "active":
        return page.see_other(f"/pay/{link.reference}")
    return page.see_other(with_result(link.redirect_url, result(link), link.reference))


def _form(asked: RawRequest) -> dict[str, str]:
    return dict(parse_qsl(asked.body.decode("ascii", "replace")))


def _check_own(asked: RawRequest) -> None:
    """Refuse a form that another site sends; browsers say where it comes from."""
    if asked.header("sec-fetch-site") not in (None, "same-origin", "none"):
        raise Forbidden("Open the payment page itself, and try again there.")


def pages() -> tuple[RawRoute, ...]:
    """The raw routes of the hosted checkout."""
    checkout = Checkout()
    base = "/pay/{reference}"
    shown = RawRoute(
        method="GET", path=base, handler=checkout.show, refusal=page.refusal, missing=NoLink
    )
    gets = {
        "/qr.svg": checkout.draw, "/status": checkout.tell, "/events": checkout.follow,
        "/return": checkout.go_on,
    }  # fmt: skip
    posts = {
        "/check": checkout.check, "/email": checkout.open_for, "/leave": checkout.leave,
        "/simulate": checkout.simulate,
    }  # fmt: skip
    read = [
        msgspec.structs.replace(shown, path=base + end, handler=handler)
        for end, handler in gets.items()
    ]
    acts = [
        msgspec.structs.replace(
            shown, method="POST", path=base + end, handler=handler, body_bytes_max=_FORM_MAX
        )
        for end, handler in posts.items()
    ]
    files = RawRoute(method="GET", path="/pay/assets/{digest}/{name}", handler=give_asset)
    return (shown, *read, *acts, files)


async def pay_simulated(services: Services, reference: str, case: str = "exact") -> None:
    """Pay a link, as if its page had been opened and the button of this case been pressed."""
    async with services.pool.reading() as db:
        link = LinkPage(**existing(await store.find_page(db, reference, now())))
    opened = Attempts()
    await opened.open(services, link)
    await opened.simulate(services, link, case)
    await opened.ask(services, link)
    await apply_now(services, BookKey(BookId(link.book_id), link.id))
