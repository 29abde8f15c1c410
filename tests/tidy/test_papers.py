"""Papers: what is written about the product is what the product does."""

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator

from tests.tidy.tree import PACKAGE, ROOT, python, tidy, walk
from tillhouse.app import PRODUCT
from tillhouse.http.problems import STATUS, known_codes
from tillhouse.http.route import Scope
from tillhouse.kit.errors import Problem
from tillhouse.settings import MEANINGS, PREFIX

# Status → the codes that the contract knows with it.
CODES = {
    400: {"request_failed", "order_not_recorded"},
    401: {"unauthorized", "second_factor_required"},
    403: {
        "forbidden",
        "subscription_required",
        "password_verification_required",
        "second_factor_setup_required",
    },
    404: {"not_found"},
    405: {"method_not_allowed"},
    409: {"request_failed", "order_not_deletable", "limit_reached", "idempotency_in_progress"},
    413: {"payload_too_large"},
    415: {"unsupported_media_type"},
    416: {"request_failed"},
    422: {"validation_error", "idempotency_key_reused"},
    429: {"rate_limit_exceeded"},
    503: {"unavailable"},
}

_KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
# A file below a folder; names of a single part are of any room, and a leading slash is an address.
_FILE = re.compile(r"`([\w.-][\w./-]*/[\w.-]+\.(?:py|sql|md|json|toml|txt|in|css|html|js))`")
# The papers that lead through the source, and where what they name may stand.
_GUIDES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "MECHANISMS.md")
_HOMES = ("src", "tests", "docs", "statements", "judges")
# A path in backticks, or a file of the package in a drawing; a pattern or a command is neither.
_NAMED = re.compile(r"`([A-Za-z][\w.-]*(?:/[\w.-]+)+/?|[\w-]+\.(?:py|sql|md|toml|json|html|css))`")
_IN_DRAWING = re.compile(r"\b([a-z]\w*(?:/\w+)+\.py)\b")
_FENCED = re.compile(r"^```$.*?^```$", re.MULTILINE | re.DOTALL)
# A path at the beginning of a line of a drawing.
_DRAWN = re.compile(r"^  ([a-z]\w*(?:/\w+)+(?:\.py)?)(?: |$)", re.MULTILINE)
# The file of a relative link, which is no address, no page of the server and no part of the paper.
_LINK = re.compile(r"\]\((?![a-z]+:|[/#])([^)#\s]+)")
_STARTS = (".", "src", PACKAGE, "docs")
_RELEASE = re.compile(r"## \[(?:Unreleased|\d+\.\d+\.\d+)\](?: - \d{4}-\d{2}-\d{2})?")


def test_every_refusal_has_a_code_that_clients_know() -> None:
    """No feature invents an error code, or uses one with another status."""
    for source in python("src/tillhouse"):
        if not source.path.endswith("__main__.py"):
            importlib.import_module(source.module)
    tidy(
        "A refusal has one of the contract's codes for its status: see CODES, and docs/errors.md.",
        (
            f"{cls.__module__}.{cls.__qualname__}: {STATUS[cls.kind]} {cls.code}"
            for cls in _problems(Problem)
            if cls.code not in CODES[STATUS[cls.kind]]
        ),
    )


def _problems(cls: type[Problem]) -> Iterator[type[Problem]]:
    for inner in cls.__subclasses__():
        # Tests may define refusals of their own.
        if inner.__module__.startswith("tillhouse."):
            yield inner
        yield from _problems(inner)


def test_every_code_that_is_raised_is_one_of_them() -> None:
    """A code given where a refusal is raised is of the same list."""
    known = set().union(*CODES.values(), {"internal_error"})
    tidy(
        "An error code is one of the contract's: see CODES.",
        (
            f"{source.at(node)} {keyword.value.value}"
            for source in python("src/tillhouse")
            for node in walk(source.tree)
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
            for keyword in node.exc.keywords
            if keyword.arg == "code" and isinstance(keyword.value, ast.Constant)
            if keyword.value.value not in known
        ),
    )


def test_every_code_is_documented() -> None:
    """docs/errors.md tells each code."""
    text = (ROOT / "docs/errors.md").read_text("utf-8")
    codes = {code for _, code in known_codes()}
    tidy(
        "Each error code stands in docs/errors.md, with what to do about it.",
        (code for code in codes if f"`{code}`" not in text),
    )


def test_every_file_of_a_drawing_is_there() -> None:
    """The ways that ARCHITECTURE.md draws lead through files that exist."""
    drawn = _DRAWN.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert len(drawn) > 8, "ARCHITECTURE.md draws the way of an order and of an event, file by file"
    tidy(
        "A drawing names files and folders of the package as they are.",
        (path for path in drawn if not (ROOT / PACKAGE / path).exists()),
    )


def test_the_guides_name_what_is_there() -> None:
    """Each file and folder that a guide names exists, in its text and in its drawings."""
    named = [(name, path) for name in _GUIDES for path in _paths((ROOT / name).read_text("utf-8"))]
    assert {name for name, _ in named} == set(_GUIDES), "Each guide names files."
    tidy(
        "A guide names files and folders as they are: follow the one that moved, or drop its name.",
        (f"{name}: {path}" for name, path in named if not _is_there(path)),
    )


def _paths(text: str) -> set[str]:
    drawn = (path for block in _FENCED.findall(text) for path in _IN_DRAWING.findall(block))
    return {*_NAMED.findall(_FENCED.sub("", text)), *drawn}


def _is_there(path: str) -> bool:
    if "/" in path:
        return any((ROOT / start / path).exists() for start in _STARTS)
    # A name alone is that of a file in any room.
    homes = ((ROOT / home).rglob(path) for home in _HOMES)
    return (ROOT / path).exists() or any(next(found, None) for found in homes)


def test_architecture_draws_every_room() -> None:
    """The first drawing of ARCHITECTURE.md has each package, and no other."""
    drawing = _FENCED.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))[0]
    drawn = {
        room
        for line in re.findall(r"^  (\w.*?)(?:  |$)", drawing, re.MULTILINE)
        for room in re.split(r" [│·] ", line)
    }
    rooms = {path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")}
    modules = {path.stem for path in (ROOT / PACKAGE).glob("*.py") if path.stem[0] != "_"}
    tidy(
        "ARCHITECTURE.md draws each room once, in its layer.",
        drawn.symmetric_difference(rooms | modules),
    )


def test_every_setting_is_documented() -> None:
    """docs/operating.md tells each setting."""
    text = (ROOT / "docs/operating.md").read_text("utf-8")
    tidy(
        "Each setting stands in docs/operating.md, as `tillhouse doctor` lists it.",
        (PREFIX + name for name in MEANINGS if f"`{PREFIX}{name}`" not in text),
    )


def test_no_setting_is_documented_that_is_none() -> None:
    """A setting that a paper names can be set."""
    named = re.compile(rf"\b{PREFIX}([A-Z][A-Z_]*[A-Z])\b")
    known = {*MEANINGS, *(f"{name}_FILE" for name in MEANINGS)}
    papers = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    tidy(
        "A paper names only settings that exist.",
        (
            f"{path.relative_to(ROOT)}: {PREFIX}{name}"
            for path in papers
            for name in named.findall(path.read_text("utf-8"))
            if name not in known and not name.startswith("TEST_")
        ),
    )


def test_the_scopes_without_a_route_are_named() -> None:
    """docs/authentication.md lists those that can be given and open nothing yet."""
    text = (ROOT / "docs/authentication.md").read_text("utf-8")
    listed = re.search(r"have no route in this version: (.+?)\.", text)
    opening = {route.guard.name for route in PRODUCT.routes if isinstance(route.guard, Scope)}
    idle = {
        scope.name
        for scope in PRODUCT.declared.scopes
        if scope.name not in opening and not opening.intersection(scope.grants)
    }
    tidy(
        "docs/authentication.md lists exactly the scopes that no route asks for.",
        sorted(idle.symmetric_difference(re.findall(r"`([a-z_:]+)`", listed[1] if listed else ""))),
    )


def test_the_changelog_keeps_its_form() -> None:
    """Keep a Changelog: releases, newest first, each with kinds of changes."""
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    assert lines[0] == "# Changelog"
    assert "## [Unreleased]" in lines, "CHANGELOG.md begins with what is not released yet."
    found = [f"{line}: no release" for line in lines if line.startswith("## ") and not _ok(line)]
    found += [
        f"{line}: none of {', '.join(sorted(_KINDS))}"
        for line in lines
        if line.startswith("### ") and line.removeprefix("### ") not in _KINDS
    ]
    found += [f"{line}: twice" for line in lines if line.startswith("# ") and lines.count(line) > 1]
    tidy("CHANGELOG.md has the form of Keep a Changelog 1.1: ## [1.2.3] - 2026-01-31.", found)


def _ok(line: str) -> bool:
    is_dated = line == "## [Unreleased]" or " - " in line
    return bool(_RELEASE.fullmatch(line)) and is_dated


def test_papers_name_files_that_exist() -> None:
    """A path in a paper can be opened: from the root, from the package, or from the docs."""
    papers = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    tidy(
        "A paper names files that exist: follow the one that moved, or drop its name.",
        (
            f"{path.relative_to(ROOT)}: {name}"
            for path in papers
            if path.name != "CHANGELOG.md"
            for name in _FILE.findall(path.read_text("utf-8"))
            if not any((ROOT / start / name).exists() for start in _STARTS)
        ),
    )


def test_the_index_of_decisions_is_whole() -> None:
    """docs/decisions/README.md has a row for each record, in order; a folded one has no file."""
    folder = ROOT / "docs/decisions"
    index = (folder / "README.md").read_text("utf-8")
    records = sorted(path.name for path in folder.glob("0*.md"))
    folded = re.findall(r"^\| (\d{4}) \|", index, re.M)
    assert re.findall(r"^\| \[\d{4}\]\(([\w.-]+)\) \|", index, re.M) == records, (
        "The index has one row for each record, in the order of their numbers."
    )
    assert folded == sorted(folded), "Folded decisions stand in the order of their numbers."
    assert not {name[:4] for name in records}.intersection(folded), "A folded decision has no file."


def test_links_of_papers_lead_somewhere() -> None:
    """A relative link of a paper leads to a file."""
    papers = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "tests/README.md"]
    tidy(
        "A link of a paper leads to a file: follow the one that moved, or drop the link.",
        (
            f"{path.relative_to(ROOT)}: {link}"
            for path in papers
            for link in _LINK.findall(path.read_text("utf-8"))
            if not (path.parent / link).exists()
        ),
    )


def test_contributing_names_every_tidy_test() -> None:
    """A house rule that a test enforces is told where the rules are."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    tidy(
        "Each file of tests/tidy stands in CONTRIBUTING.md, in a row of the rules of the code.",
        (
            source.path
            for source in python("tests/tidy")
            if source.name.startswith("test_") and f"`{source.path}`" not in text
        ),
    )


def test_pyproject_names_files_that_exist() -> None:
    """An exception for a file goes with it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    globs = settings["tool"]["ruff"]["lint"]["per-file-ignores"]
    tidy(
        "pyproject.toml makes exceptions for files that exist.",
        (pattern for pattern in globs if not any(ROOT.glob(pattern))),
    )


def test_the_map_of_the_tests_is_whole() -> None:
    """tests/README.md has a row for each module beside the tests, and for no other."""
    listed = re.findall(
        r"^\| `([\w/]+\.py)` \|", (ROOT / "tests/README.md").read_text("utf-8"), re.M
    )
    modules = {
        source.path.removeprefix("tests/")
        for source in python("tests")
        if not source.name.startswith("test_") and source.name not in ("conftest", "__init__")
        if "/rooms/" not in source.path
    }
    tidy(
        "Each module beside the tests stands in tests/README.md with what it does.",
        (f"tests/{path}" for path in modules.symmetric_difference(listed)),
    )
