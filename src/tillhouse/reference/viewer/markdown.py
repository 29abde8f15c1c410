"""Markdown as HTML: with anchors, tables that can be scrolled, and links to operations."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

# The link for the text of an inline code or the target of a link; nothing when to nowhere.
Lead = Callable[[str], str | None]


class Heading(msgspec.Struct, frozen=True):
    """A heading of a text, and its anchor."""

    level: int
    text: str
    anchor: str


class Section(msgspec.Struct, frozen=True):
    """A heading and the words below it, up to the next."""

    heading: Heading
    text: str


class Mention(msgspec.Struct, frozen=True):
    """An inline code, and the heading that it stands under."""

    code: str
    heading: Heading


class _Renderer(RendererHTML):
    """The library's renderer with our own code, tables and comments."""

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Code, as a link where it names an operation."""
        token = tokens[idx]
        code = f"<code>{escape(token.content)}</code>"
        url = env["code"](token.content)
        return f'<a href="{escape(url)}">{code}</a>' if url else code

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A block of code, which the keyboard can scroll."""
        token = tokens[idx]
        env["blocks"] = env.get("blocks", 0) + 1
        title = _LANGUAGES.get(token.info.strip(), token.info.strip() or "Text")
        return (
            f'<div class="code"><div class="bar"><span>{escape(title)}</span></div>'
            f'<pre tabindex="0" role="group" aria-label="{escape(title)}, block {env["blocks"]}">'
            f"<code>{escape(token.content.rstrip())}</code></pre></div>\n"
        )

    code_block = fence

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A table in a frame of its own, which scrolls where it is wider than the page."""
        env["tables"] = env.get("tables", 0) + 1
        label = f"Table {env['tables']}"
        return f'<div class="table" tabindex="0" role="group" aria-label="{label}"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """The end of the frame."""
        return "</table></div>\n"

    def html_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """Comments are for tools."""
        return ""

    def html_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        """A tag within a text is text."""
        return str(escape(tokens[idx].content))


_LANGUAGES = {
    "bash": "Shell", "go": "Go", "java": "Java", "js": "JavaScript", "json": "JSON",
    "php": "PHP", "python": "Python", "ruby": "Ruby", "sql": "SQL",
}  # fmt: skip
_PARSER = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer).enable("table")


def to_html(text: str, *, code: Lead, link: Lead, level: int = 1) -> Markup:
    """The text as HTML; its headings begin at `level`."""
    env: dict[str, Any] = {"code": code}
    tokens = _PARSER.parse(text, env)
    _anchor(tokens, level - 1)
    for token in tokens:
        token.children = _led(token.children or [], link) if token.children else token.children
    _no_empty_heads(tokens)
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, env))  # noqa: S704


@lru_cache(maxsize=64)
def headings(text: str) -> list[Heading]:
    """The headings of a text, with the anchors that its HTML has."""
    return _anchor(_PARSER.parse(text), 0)


def mentions(text: str) -> list[Mention]:
    """Every inline code of a text, with the heading it stands under."""
    tokens = _PARSER.parse(text)
    found: list[Mention] = []
    under = iter(_anchor(tokens, 0))
    heading = Heading(1, "", "")
    for token in tokens:
        if token.type == "heading_open":
            heading = next(under)
        codes = [child for child in token.children or [] if child.type == "code_inline"]
        found += [Mention(code.content, heading) for code in codes]
    return found


def sections(text: str) -> list[Section]:
    """The text cut at its headings, as bare words."""
    tokens = _PARSER.parse(text)
    found: list[Section] = []
    for heading in reversed(_anchor(tokens, 0)):
        words: list[str] = []
        while tokens and (token := tokens.pop()).type != "heading_open":
            words += reversed([child.content for child in token.children or [] if child.content])
        found.append(Section(heading, " ".join(reversed(words))))
    return found[::-1]


def _anchor(tokens: list[Token], deeper: int) -> list[Heading]:
    """Give each heading its anchor, as code hosts make them, and its level."""
    found: list[Heading] = []
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = "".join(child.content for child in tokens[at + 1].children or [])
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        twins = sum(one.anchor == anchor for one in found)
        heading = Heading(
            int(token.tag[1]) + deeper, text, f"{anchor}-{twins}" if twins else anchor
        )
        token.attrSet("id", heading.anchor)
        token.tag = tokens[at + 2].tag = f"h{min(heading.level, 6)}"
        found.append(heading)
    return found


def _led(tokens: list[Token], link: Lead) -> list[Token]:
    """Links lead to where their targets are here; one that leads nowhere is its text."""
    kept: list[Token] = []
    opened: list[bool] = []
    for token in tokens:
        if token.type == "link_open":
            url = link(str(token.attrGet("href")))
            opened.append(url is not None)
            if url is None:
                continue
            token.attrSet("href", url)
        elif token.type == "link_close" and not opened.pop():
            continue
        kept.append(token)
    return kept


def _no_empty_heads(tokens: list[Token]) -> None:
    """A head without words heads nothing: a plain cell."""
    for before, inside, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.type == "th_open" and not inside.content:
            before.tag = after.tag = "td"
        elif before.type == "th_open":
            before.attrSet("scope", "col")
