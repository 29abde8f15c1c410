"""The guides: the Markdown of docs/, with links between it and the operations."""

from collections import Counter
from functools import cached_property
from importlib.resources.abc import Traversable

import msgspec
from markupsafe import Markup

from tillhouse.reference.viewer import markdown
from tillhouse.reference.viewer.document import Document, Operation, TagPage
from tillhouse.reference.viewer.markdown import Heading

# In the order in which they are read; others follow by name.
ORDER = ("quickstart", "desk", "authentication", "orders", "catalog", "places", "customers",
         "kitchen", "hotel", "messaging", "inbox", "payments", "finance", "wallet", "voice",
         "webhooks", "errors", "operating")  # fmt: skip


class Guide(msgspec.Struct, frozen=True, kw_only=True):
    """One guide: its file's name and its Markdown."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """Its first heading."""
        return markdown.headings(self.text)[0].text

    @property
    def lead(self) -> str:
        """The first sentence below the title."""
        paragraph = self.text.partition("\n\n")[2].partition("\n\n")[0]
        return paragraph.partition(". ")[0].removesuffix(".") + "."

    @property
    def sections(self) -> list[Heading]:
        """The headings of its sections."""
        return [heading for heading in markdown.headings(self.text) if heading.level == 2]

    @property
    def url(self) -> str:
        """Its page."""
        return f"/docs/guides/{self.name}"


class Passage(msgspec.Struct, frozen=True):
    """Where a guide speaks of something."""

    guide: Guide
    section: Heading

    @property
    def title(self) -> str:
        """Guide and section."""
        is_whole = self.section.level == 1
        return self.guide.title if is_whole else f"{self.guide.title}: {self.section.text}"

    @property
    def url(self) -> str:
        """The section's address."""
        is_whole = self.section.level == 1
        return self.guide.url if is_whole else f"{self.guide.url}#{self.section.anchor}"


def read(texts: Traversable) -> list[Guide]:
    """The guides of a folder."""
    found = {
        item.name.removesuffix(".md"): item.read_text("utf-8")
        for item in texts.iterdir()
        if item.name.endswith(".md")
    }
    names = sorted(found, key=lambda name: (name not in ORDER, _position(name), name))
    return [Guide(name=name, text=found[name]) for name in names]


def _position(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


class Library:
    """All guides, and their mentions of operations."""

    def __init__(self, document: Document, guides: list[Guide]) -> None:
        self.guides = guides
        self._document = document
        self._by_name = {guide.name: guide for guide in guides}

    @cached_property
    def _mentions(self) -> list[tuple[Passage, Operation | None, str]]:
        """Every mention of an operation or of a group's path: where, which, of what group."""
        found: list[tuple[Passage, Operation | None, str]] = []
        for guide in self.guides:
            for mention in markdown.mentions(guide.text):
                operation = self._document.named(mention.code)
                group = operation or self._document.under(mention.code)
                if group is not None:
                    name = operation.group if operation else group.name
                    found.append((Passage(guide, mention.heading), operation, name))
        return found

    def on_operation(self, operation: Operation) -> list[Passage]:
        """Where the guides speak of an operation."""
        passages = [passage for passage, one, _ in self._mentions if one is operation]
        return [one for at, one in enumerate(passages) if one not in passages[:at]]

    def on_group(self, group: TagPage) -> list[Guide]:
        """The guide that a group names, then those that speak of it, most of all first."""
        named = [guide for guide in self.guides if guide.url == group.docs.partition("#")[0]]
        counted = Counter(
            passage.guide.name for passage, _, name in self._mentions if name == group.name
        )
        speaking = [self._by_name[guide] for guide, _ in counted.most_common()]
        return [*named, *(guide for guide in speaking if guide not in named)]

    def guide(self, name: str) -> Guide | None:
        """A guide by its name."""
        return self._by_name.get(name)

    def html(self, text: str, level: int = 1) -> Markup:
        """A text of a guide or of the document."""
        return markdown.to_html(text, code=self._code, link=self._link, level=level)

    def _code(self, code: str) -> str | None:
        operation = self._document.named(code)
        if operation is not None:
            return operation.url
        group = self._document.under(code)
        return group.url if group is not None else None

    def _link(self, target: str) -> str | None:
        """Files of guides become their pages; other files aren't served."""
        path, _, anchor = target.partition("#")
        if not path or path.startswith(("/", "mailto:")) or "://" in path:
            return target
        guide = self.guide(path.removeprefix("./").removesuffix(".md"))
        if guide is None:
            return None
        return f"{guide.url}#{anchor}" if anchor else guide.url
