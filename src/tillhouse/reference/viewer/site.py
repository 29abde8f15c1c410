"""The site at /docs: every path of it, and how its page is made."""

import hashlib
from collections.abc import Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from tillhouse.http.pages import guides_folder
from tillhouse.reference.viewer import search
from tillhouse.reference.viewer.document import Document, Node
from tillhouse.reference.viewer.guides import Guide, Library, read
from tillhouse.reference.viewer.shown import Showing

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
    "json": "application/json",
}

# Everything comes from this server; nothing is written into the pages but text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One path of the site; its bytes are made when somebody asks for them."""

    path: str
    media_type: str
    make: Callable[[], bytes]
    # The path changes with the content: a browser that has it may keep it.
    is_immutable: bool = False


def site(document: Node, guides: Traversable | None = None) -> list[Resource]:
    """The pages of a document and of the guides, with their files."""
    return _Site(document, read(guides or guides_folder())).resources()


class _Site:
    def __init__(self, node: Node, guides: list[Guide]) -> None:
        self._document = Document(node)
        self._library = Library(self._document, guides)
        self._showing = Showing(self._document, self._library)
        static = files("tillhouse.reference.viewer") / "static"
        self._files = {item.name: item.read_bytes() for item in static.iterdir()}
        digest = hashlib.sha256(b"".join(self._files[name] for name in sorted(self._files)))
        self._assets = f"/docs/assets/{digest.hexdigest()[:12]}"
        self._environment = Environment(
            loader=PackageLoader("tillhouse.reference.viewer"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["markdown"] = self._library.html

    def resources(self) -> list[Resource]:
        """Every path."""
        return [*self._pages(), *self._static()]

    def _pages(self) -> Iterator[Resource]:
        yield self._page("/docs", "start.html", lambda: {"info": self._document.info})
        for guide in self._library.guides:
            yield self._page(guide.url, "guide.html", lambda guide=guide: {"guide": guide})
        for group in self._document.groups:
            yield self._page(
                group.url,
                "group.html",
                lambda group=group: {
                    "group": group,
                    "guides": self._library.on_group(group),
                    "operations": [self._showing.operation(one) for one in group.operations],
                    "objects": self._showing.objects_of(group),
                },
            )
        if self._document.events:
            yield self._page(
                "/docs/events",
                "events.html",
                lambda: {
                    "events": [self._showing.event(one) for one in self._document.events],
                    "objects": self._showing.objects_of_events(),
                },
            )

    def _page(self, path: str, template: str, facts: Callable[[], dict[str, Any]]) -> Resource:
        def make() -> bytes:
            text = self._environment.get_template(template).render(
                path=path,
                assets=self._assets,
                document=self._document,
                library=self._library,
                **facts(),
            )
            return text.encode()

        return Resource(path=path, media_type=_TYPES["html"], make=make)

    def _static(self) -> Iterator[Resource]:
        yield Resource(path="/docs/search.json", media_type=_TYPES["json"], make=self._search)
        for name, body in self._files.items():
            suffix = name.rpartition(".")[2]
            if suffix in _TYPES:
                yield Resource(
                    path=f"{self._assets}/{name}",
                    media_type=_TYPES[suffix],
                    make=lambda body=body: body,
                    is_immutable=True,
                )

    def _search(self) -> bytes:
        entries = search.entries(self._document, self._library, self._showing)
        return msgspec.json.encode(entries)
