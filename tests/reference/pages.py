"""The pages of the viewer as tests look at them: elements in order, without a browser."""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from html.parser import HTMLParser
from typing import Any

from tests.tidy.tree import ROOT
from tillhouse.reference.viewer.site import Resource, site

DOCUMENT: dict[str, Any] = json.loads(
    (ROOT / "src/tillhouse/reference/openapi.json").read_text("utf-8")
)
_VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}


class Element:
    """One element: its name, attributes, children and texts."""

    def __init__(self, name: str, attributes: dict[str, str], parent: "Element | None") -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        self.inside: list[Element | str] = []

    @property
    def text(self) -> str:
        """All of its text."""
        return "".join(one if isinstance(one, str) else one.text for one in self.inside)

    def all(self, *names: str) -> Iterator["Element"]:
        """The elements inside of it, of these names if any are given, in order."""
        waiting = [one for one in reversed(self.inside) if isinstance(one, Element)]
        while waiting:
            one = waiting.pop()
            if not names or one.name in names:
                yield one
            waiting += [each for each in reversed(one.inside) if isinstance(each, Element)]

    def by_id(self, wanted: str) -> "Element | None":
        """The element with this id."""
        return self._by_id.get(wanted)

    @cached_property
    def _by_id(self) -> dict[str, "Element"]:
        return {one.attributes["id"]: one for one in self.all() if "id" in one.attributes}


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self.open = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.inside.append(element)
        if tag not in _VOID:
            self.open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.open.inside.append(Element(tag, attributes, self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.name == tag, f"</{tag}> closes <{self.open.name}>"
        assert self.open.parent is not None
        self.open = self.open.parent

    def handle_data(self, data: str) -> None:
        self.open.inside.append(data)


def parsed(page: bytes) -> Element:
    """A page as a tree; every element has to be closed where it was opened."""
    builder = _Builder()
    builder.feed(page.decode())
    assert builder.open is builder.root, f"<{builder.open.name}> is not closed"
    return builder.root


@lru_cache(maxsize=1)
def resources() -> dict[str, Resource]:
    """Every path of the site of the product's own document."""
    return {one.path: one for one in site(DOCUMENT)}


@lru_cache(maxsize=1)
def pages() -> dict[str, Element]:
    """Every page of it."""
    return pages_of(resources().values())


def pages_of(some: Iterable[Resource]) -> dict[str, Element]:
    """The HTML among some resources, as trees."""
    return {one.path: parsed(one.make()) for one in some if one.media_type.startswith("text/html")}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and node of every operation of the document."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation
