"""A browser without scripts: keeps cookies, follows no redirect by itself, fills forms in."""

from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

import msgspec

from tests.api import Api, Response

_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


class PageForm(msgspec.Struct):
    """A form of a page: where it goes, and the fields that it has by itself."""

    action: str
    method: str
    fields: dict[str, str]


class PageParts(HTMLParser):
    """The parts of a page that tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self.title = ""
        self.links: list[str] = []
        self.alerts: list[str] = []
        # Every element with its attributes, in order.
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self._select = ""
        self._area = ""
        self._alert_depth: int | None = None
        self._words: list[str] = []
        self.feed(text)
        self.words = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note forms, their fields, links and alerts."""
        found = dict(attrs)
        self.elements.append((tag, found))
        if tag not in ("input", "meta", "link", "br", "hr", "img", "wbr"):
            self._open.append(tag)
        if found.get("role") == "alert":
            self._alert_depth = len(self._open)
            self.alerts.append("")
        if tag == "form":
            action, method = found.get("action") or "", found.get("method") or "get"
            self.forms.append(PageForm(action, method, {}))
        elif tag == "a":
            self.links.append(found.get("href") or "")
        elif self.forms:
            self._take_field(tag, found, self.forms[-1].fields)

    def _take_field(self, tag: str, found: dict[str, str | None], fields: dict[str, str]) -> None:
        name, value = found.get("name") or "", found.get("value") or ""
        match tag:
            case "input" if name:
                if found.get("type") not in ("checkbox", "radio") or "checked" in found:
                    fields[name] = value
            case "select":
                self._select = name
                fields.pop(name, None)
            case "option" if self._select:
                # A browser sends the chosen option, else the first.
                if "selected" in found or self._select not in fields:
                    fields[self._select] = value
            case "textarea":
                self._area = name
                fields[name] = ""
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        if tag == "select":
            self._select = ""
        if tag == "textarea" and self._area:
            # A browser leaves out the line break that an area begins with.
            text = self.forms[-1].fields[self._area]
            self.forms[-1].fields[self._area] = text.removeprefix("\n")
            self._area = ""
        if self._alert_depth is not None and len(self._open) <= self._alert_depth:
            self._alert_depth = None
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Gather the words."""
        if self._open and self._open[-1] == "title":
            self.title += data
        self._words.append(data)
        if self._area:
            self.forms[-1].fields[self._area] += data
        if self._alert_depth is not None:
            self.alerts[-1] = " ".join((self.alerts[-1] + " " + data).split())


class Browser:
    """One browser, with the cookies that it was given and the page that it shows."""

    def __init__(self, api: Api) -> None:
        self.api = Api(api.app, {"user-agent": _USER_AGENT}, api.peer)
        self.cookies: dict[str, str] = {}
        self.answer: Response | None = None
        self.page = PageParts("")

    async def open(self, path: str, status: int = 200, **headers: str) -> PageParts:
        """Ask for a page."""
        own = {"sec-fetch-site": "none", **headers}
        return self._take(await self.api.get(path, headers=self._with(own), status=status))

    async def submit(
        self, action: str, status: int = 303, *, site: str = "same-origin", **fields: str
    ) -> PageParts:
        """Send the form of the shown page that goes to this address, filled in like this."""
        form = next(form for form in self.page.forms if form.action == action)
        return await self.send(action, form.fields | fields, status, site=site)

    async def send(
        self, action: str, fields: dict[str, str], status: int = 303, *, site: str = "same-origin"
    ) -> PageParts:
        """Send fields to an address, whatever page is shown."""
        return await self.send_raw(action, urlencode(fields).encode(), status, site)

    async def send_raw(self, action: str, raw: bytes, status: int, site: str | None) -> PageParts:
        """Send these bytes as a form."""
        own = {"content-type": "application/x-www-form-urlencoded"}
        if site is not None:
            own["sec-fetch-site"] = site
        answer = await self.api.post(action, raw=raw, headers=self._with(own), status=status)
        return self._take(answer)

    @property
    def onward(self) -> str:
        """The address that the last answer leads to."""
        assert self.answer is not None
        return self.answer.headers["location"]

    @property
    def response(self) -> Response:
        """The last answer."""
        assert self.answer is not None
        return self.answer

    async def sign_in(self, email: str, password: str) -> None:
        """Sign in at the door, from an empty form."""
        await self.open("/desk/sign-in")
        await self.submit("/desk/sign-in", email=email, password=password)

    async def sign_in_by_code(self, email: str, password: str, code: str) -> None:
        """Sign in at the door with the code of a second factor as well."""
        await self.open("/desk/sign-in")
        await self.submit("/desk/sign-in", 401, email=email, password=password)
        await self.submit("/desk/sign-in", sign_in_code=code)

    def _with(self, own: dict[str, str]) -> dict[str, str]:
        if not self.cookies:
            return own
        return {**own, "cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}

    def _take(self, answer: Response) -> PageParts:
        self.answer = answer
        for cookie in answer.cookies:
            pair, _, attributes = cookie.partition(";")
            name, _, value = pair.partition("=")
            self.cookies[name] = value
            if "Max-Age=0" in attributes:
                del self.cookies[name]
        if answer.headers["content-type"].startswith("text/html"):
            self.page = PageParts(answer.body.decode())
        return self.page


def attributes(page: PageParts) -> set[str]:
    """The names of all attributes of a page."""
    return {name for _, found in page.elements for name in found}


def named(page: PageParts, **wanted: Any) -> list[dict[str, str | None]]:
    """The elements with these attributes."""
    return [
        found
        for _, found in page.elements
        if all(found.get(name) == value for name, value in wanted.items())
    ]
