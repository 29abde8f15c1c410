"""The index that the search of the viewer looks through."""

from collections.abc import Iterable, Iterator

import msgspec

from tillhouse.reference.viewer import markdown
from tillhouse.reference.viewer.document import Document
from tillhouse.reference.viewer.fields import Field, FieldPart
from tillhouse.reference.viewer.guides import Guide, Library
from tillhouse.reference.viewer.shown import Showing


class SearchEntry(msgspec.Struct, frozen=True, array_like=True):
    """One place that can be found: by its title, its side text, and words of its text."""

    title: str
    beside: str
    url: str
    words: str = ""


def entries(document: Document, library: Library, showing: Showing) -> list[SearchEntry]:
    """Guides, groups, operations, objects, events."""
    found: list[SearchEntry] = []
    for guide in library.guides:
        found += _guide(guide)
    for group in document.groups:
        found.append(SearchEntry(group.name, group.about, group.url))
        for one in group.operations:
            shown = showing.operation(one)
            fields = [*(each for place in shown.parameters for each in place.fields)]
            words = _words([*names(fields), *_of_parts(shown.body), *shown.scopes])
            found.append(SearchEntry(one.summary, one.name, one.url, words))
        for each in showing.objects_of(group):
            url = f"{group.url}#object-{each.name}"
            beside = f"Object of {group.name}"
            found.append(SearchEntry(each.title, beside, url, _words(_of_parts(each.parts))))
    for event in document.events:
        words = _words(_of_parts(showing.event(event).parts))
        found.append(SearchEntry(event.name, "Webhook event", event.url, words))
    return found


def _guide(guide: Guide) -> Iterator[SearchEntry]:
    yield SearchEntry(guide.title, "Guide", guide.url)
    for section in markdown.sections(guide.text):
        if section.heading.level > 1:
            url = f"{guide.url}#{section.heading.anchor}"
            yield SearchEntry(section.heading.text, f"Guide: {guide.title}", url, section.text)


def names(fields: Iterable[Field]) -> Iterator[str]:
    """The names of fields, with those inside of them."""
    for field in fields:
        yield field.name
        yield from _of_parts(field.parts)


def _of_parts(parts: Iterable[FieldPart]) -> Iterator[str]:
    for part in parts:
        yield from names(part.fields)


def _words(words: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(words))
