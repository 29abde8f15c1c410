"""The viewer at /docs: complete, linked both ways, readable by everybody, nothing inline."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from tests.reference.pages import DOCUMENT, Element, operations, pages, resources
from tests.tidy.tree import ROOT, tidy
from tillhouse.http.pages import guides_folder
from tillhouse.reference.viewer.document import Document, slug
from tillhouse.reference.viewer.guides import Library, read

# Paths that the server has beside the viewer.
_BESIDE = {"/openapi.json", "/llms.txt", "/docs", "/", "/desk/commands/try"}
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
VIEWER = Document(DOCUMENT)
LIBRARY = Library(VIEWER, read(guides_folder()))


def article(method: str, path: str) -> Element:
    """The part of a page that shows an operation."""
    anchor = slug(f"{method} {path}")
    found = [page.by_id(anchor) for page in pages().values()]
    (only,) = [one for one in found if one is not None]
    return only


def test_every_operation_is_shown_once_with_its_words() -> None:
    """Under its summary stand method, path and description, a request and an answer."""
    for method, path, operation in operations():
        shown = article(method, path)
        (heading,) = shown.all("h2")
        assert heading.text == operation["summary"]
        assert f"{method} {path}" in " ".join(shown.text.split())
        words = re.sub(r"[`*]", "", operation["description"].split("\n")[0])
        assert words in shown.text, f"{method} {path}"
        assert "curl -sS" in shown.text
        for status in operation["responses"]:
            assert status in shown.text, f"{method} {path} {status}"


def test_every_field_of_a_request_is_shown_with_its_sentence() -> None:
    """Parameters and the fields of bodies, as deep as they go."""
    for method, path, operation in operations():
        shown = article(method, path)
        names = {dt.text for dt in shown.all("dt")}
        text = " ".join(shown.text.split())
        wanted = [*operation["parameters"]]
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            fields = VIEWER.resolve(schema).get("properties", {})
            wanted += [{"name": name, **field} for name, field in fields.items()]
        for one in wanted:
            assert one["name"] in names, f"{method} {path} {one['name']}"
            words = re.sub(r"[`*]", "", one.get("description", ""))
            assert " ".join(words.split()) in text, f"{method} {path} {one['name']}: {words}"


def test_an_answer_names_its_objects_and_they_are_on_the_page() -> None:
    """Every field of an object that an answer has is told on the same page."""
    page = pages()["/docs/api/orders"]
    shown = page.by_id("object-Order")
    assert shown is not None
    names = {dt.text for dt in shown.all("dt")}
    assert set(DOCUMENT["components"]["schemas"]["Order"]["properties"]) == names


def test_headings_go_down_by_one() -> None:
    """Each page has one h1, and no level is left out on the way down."""
    for path, page in pages().items():
        (main,) = page.all("main")
        levels = [int(one.name[1]) for one in main.all(*_HEADINGS)]
        assert levels.count(1) == 1, path
        assert levels[0] == 1, path
        for before, after in pairwise(levels):
            assert after <= before + 1, f"{path}: h{before}, then h{after}"


def test_nothing_is_inline_or_from_elsewhere() -> None:
    """The strict policy breaks nothing: no script, style or handler stands in a page."""
    for path, page in pages().items():
        for one in page.all():
            assert one.name != "style", path
            assert one.name != "script" or (one.attributes["src"] and not one.text), path
            handlers = [name for name in one.attributes if name.startswith("on")]
            assert not handlers, f"{path}: <{one.name}>"
            assert "style" not in one.attributes, f"{path}: <{one.name}>"
            for name in ("src", "href"):
                address = one.attributes.get(name, "")
                is_loaded = one.name != "a" and address
                assert not is_loaded or address in resources(), f"{path}: {address}"


def test_ids_are_unique_and_every_reference_to_one_is_good() -> None:
    """Labels and names of sections belong to something that is there."""
    for path, page in pages().items():
        ids = [one.attributes["id"] for one in page.all() if "id" in one.attributes]
        assert len(ids) == len(set(ids)), f"{path}: {sorted(i for i in ids if ids.count(i) > 1)}"
        for one in page.all():
            for name in ("for", "aria-labelledby", "popovertarget"):
                assert one.attributes.get(name, ids[0]) in ids, f"{path}: {name}"


def test_every_control_has_a_name() -> None:
    """Inputs have labels, buttons and links have words."""
    for path, page in pages().items():
        labels = {one.attributes["for"] for one in page.all("label")}
        for one in page.all("input", "textarea", "select"):
            assert one.attributes["id"] in labels, path
        for one in page.all("button", "a"):
            assert one.text.strip(), f"{path}: <{one.name}> {one.attributes}"
        for one in page.all("pre"):
            assert one.attributes["tabindex"] == "0", "what scrolls is reached by the keyboard"
            assert one.attributes["aria-label"], path


def test_every_link_within_the_site_leads_somewhere() -> None:
    """To a page that there is, and to an anchor on it."""
    everywhere = pages()
    for path, page in everywhere.items():
        for link in page.all("a"):
            target, _, anchor = link.attributes["href"].partition("#")
            if "://" in target:
                continue
            there = everywhere.get(target or path)
            beside = target.partition("?")[0]
            assert there is not None or beside in _BESIDE, f"{path}: {target}"
            if anchor:
                assert there is not None, f"{path}: {target}"
                assert there.by_id(anchor), f"{path}: {target}#{anchor}"


def test_operations_lead_to_guides_and_guides_to_operations() -> None:
    """Each operation names a guide; a guide that names an operation links to it."""
    for method, path, _ in operations():
        (facts,) = [
            one
            for one in article(method, path).all("dl")
            if one.attributes["class"] == "facts-list"
        ]
        targets = [one.attributes["href"] for one in facts.all("a")]
        assert any(one.startswith("/docs/guides/") for one in targets), (
            f"{method} {path}: no guide names an operation of its group"
        )
    for guide in LIBRARY.guides:
        page = pages()[guide.url]
        linked = {one.text for one in page.all("a") if "/docs/api/" in one.attributes["href"]}
        for code in page.all("code"):
            if VIEWER.named(code.text) is not None:
                assert code.text in linked, f"{guide.name}: {code.text}"


def test_a_guide_names_only_operations_that_there_are() -> None:
    """`METHOD /path` in a guide is an operation, in full or shortened with … before it."""
    named = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE) …?/\S+")
    tidy(
        "A guide names operations by method and path as the API has them.",
        (
            f"docs/{guide.name}.md: {code.text}"
            for guide in LIBRARY.guides
            for code in pages()[guide.url].all("code")
            if code.parent is not None and code.parent.name != "pre"
            if named.fullmatch(code.text) and VIEWER.named(code.text) is None
        ),
    )


def test_every_guide_goes_into_the_wheel() -> None:
    """The build takes each file of docs/ that the viewer shows, by name."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    for guide in LIBRARY.guides:
        line = f'"docs/{guide.name}.md" = "tillhouse/reference/guides/{guide.name}.md"'
        assert line in text, f"Add to force-include in pyproject.toml: {line}"


def test_no_backtick_is_shown_outside_of_code() -> None:
    """Markdown is shown as its meaning."""
    for path, page in pages().items():
        for one in page.all():
            words = "".join(each for each in one.inside if isinstance(each, str))
            assert "`" not in words or is_code(one), f"{path}: {words}"


def is_code(element: Element | None) -> bool:
    """Whether an element stands in code, or is itself some."""
    while element is not None and element.name not in ("code", "pre", "script", "style"):
        element = element.parent
    return element is not None


def test_no_key_for_repetition_is_there_to_be_pasted() -> None:
    """A request is shown with a key that is made as it is sent; guides do the same."""
    constant = re.compile(r"Idempotency-Key: (?!\$)\S+")
    for path, page in pages().items():
        for pre in page.all("pre"):
            assert not constant.search(pre.text), f"{path}: {pre.text}"
    for method, path, operation in operations():
        takes = any(one["name"] == "Idempotency-Key" for one in operation["parameters"])
        shown = article(method, path).text
        assert ("Idempotency-Key: $(uuidgen)" in shown) == takes, f"{method} {path}"
        for parameter in operation["parameters"]:
            if parameter["name"] == "Idempotency-Key":
                assert parameter["schema"]["x-fresh"] == "uuid"
                for example in parameter["schema"].get("examples", []):
                    assert example not in shown


def test_a_request_can_be_sent_as_it_stands() -> None:
    """The body between the quotes of the command is the document's example."""
    for method, path, operation in operations():
        shown = article(method, path)
        bodies = [one for one in shown.all("span") if "data-body" in one.attributes]
        if "requestBody" not in operation:
            assert not bodies
            continue
        content = operation["requestBody"]["content"]["application/json"]
        first: Any = next(iter(content["examples"].values()))["value"]
        assert json.loads(bodies[0].text.replace("'\\''", "'")) == first


def test_the_search_knows_every_operation_and_every_section() -> None:
    """Each entry of the search leads to an anchor."""
    entries = json.loads(resources()["/docs/search.json"].make())
    found = {url for _title, _beside, url, _words in entries}
    assert {one.url for one in VIEWER.operations} <= found
    assert {f"{g.url}#{s.anchor}" for g in LIBRARY.guides for s in g.sections} <= found
    for url in found:
        target, _, anchor = url.partition("#")
        assert not anchor or pages()[target].by_id(anchor), url
    (order,) = [words for *_, url, words in entries if url.endswith("#post-v1-orders")]
    assert {"items", "product_name", "modifier_option_id"} <= set(order.split())


@pytest.mark.parametrize("path", ["/docs", "/docs/api/orders", "/docs/guides/webhooks"])
def test_a_page_is_small(path: str) -> None:
    """No page is more than a telephone takes at once."""
    assert len(resources()[path].make()) < 250_000
