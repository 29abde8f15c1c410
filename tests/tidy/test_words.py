"""Words: names that say something, nothing left for later, nothing of one machine."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.tidy.tree import Function, Source, functions, python, sources, tidy, walk

_EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "core",
                "base", "misc", "shared", "lib", "services", "models"}  # fmt: skip
# Written backwards, so that this file passes its own test; the last, in quotes, is no currency.
_MARKS = re.compile(
    rf"\b(?:{'ODOT'[::-1]}|{'EMXIF'[::-1]}|{'KCAH'[::-1]}|(?<![\"'])XX[X](?![\"']))\b"
)
_HOOKS = {"enc_hook", "dec_hook", "schema_hook", "object_hook", "default"}
_PATCHING = {"monkeypatch", "mocker", "mock"}
_PRONOUN_FIRST = re.compile(r"(?:^|[.!?] )(?:Who(?:m|se|ever)?|What(?:ever)?) [^.!?]+(?:[.!]|$)")
_COMMENT_WITH_PRONOUN = re.compile(r"#.*(?:Who|What)")
_MACHINE_PATH = re.compile(r"(?<![\w.~$}>)/-])/(?:root|" + "work|home)/[A-Za-z0-9._-]")
_REGISTRY = re.compile(
    r"registry[.]npmjs|npmjs[.]com|pypi[.]org|pythonhosted[.]org|proxy[.]golang[.]org"
    r"|index[.]crates[.]io|--(?:extra-)?index[-]url|artifactor[y]|://[^\s)\"']*/simpl[e]/"
)


def test_modules_have_names_that_say_something() -> None:
    """A module is named after what it knows."""
    tidy(
        "A module is named after what it knows, never one of "
        f"{', '.join(sorted(_EMPTY_NAMES))}: anything would fit in there, so anything would go in.",
        (
            source.path
            for source in python()
            if _EMPTY_NAMES & set(source.path.removesuffix(".py").split("/")[1:])
        ),
    )


def test_nothing_is_left_for_later() -> None:
    """Work that is not done is an issue, not a comment."""
    tidy(
        "No mark for later work in a file: do it now, or leave it out and write an issue.",
        (
            f"{source.path}:{number}: {found[0]}"
            for source in sources()
            for number, line in enumerate(source.text.splitlines(), 1)
            if (found := _MARKS.search(line))
        ),
    )


def test_nothing_is_unfinished() -> None:
    """`raise NotImplementedError` is for abstract methods and for hooks, which must raise it."""
    tidy(
        "NotImplementedError is raised only as the whole body of a method that subclasses write, "
        f"or in a function given as {', '.join(sorted(_HOOKS))}: finish the function.",
        (
            f"{source.at(function)} {function.name}"
            for source in python("src/tillhouse")
            for function in functions(source.tree)
            if _raises_unfinished(function)
            and not _is_abstract(function)
            and function.name not in _hooks(source)
        ),
    )


def _raises_unfinished(function: Function) -> bool:
    return any(
        isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node)
        for node in ast.walk(function)
    )


def _is_abstract(function: Function) -> bool:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    is_method = bool(function.args.args) and function.args.args[0].arg in ("self", "cls")
    return is_method and len(body) == 1 and isinstance(body[0], ast.Raise)


def _hooks(source: Source) -> set[str]:
    return {
        keyword.value.id
        for node in walk(source.tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in _HOOKS and isinstance(keyword.value, ast.Name)
    }


def test_no_test_replaces_what_it_tests() -> None:
    """Tests run the product: no mock, no patched attribute."""
    tidy(
        "No mock and no patch in tests: pass another value in, or run a real server in the test.",
        (
            f"{source.at(node)} {name}"
            for source in python("tests")
            for node in walk(source.tree)
            for name in _names(node)
            if _PATCHING & set(name.split("."))
        ),
    )


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        case ast.arg():
            yield node.arg


def test_no_test_sleeps() -> None:
    """A test waits for what happens, not for time to pass."""
    tidy(
        "No sleep of a fixed time in tests, except inside `while`, between two looks: wait for the "
        "event itself (a future, a process's end, an answer).",
        (
            f"{source.at(node)} {ast.unparse(node)}"
            for source in python("tests")
            for node in _outside_while(source.tree)
            if isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] == "sleep"
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value
        ),
    )


def _outside_while(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.While):
            yield from _outside_while(child)


def test_every_test_says_what_it_proves() -> None:
    """A docstring of one sentence, which the failure shows."""
    tidy(
        "A test has a docstring that says what is true when it passes.",
        (
            f"{source.at(function)} {function.name}"
            for source in python("tests")
            if source.name.startswith("test_")
            for function in functions(source.tree)
            if function.name.startswith("test_") and not ast.get_docstring(function)
        ),
    )


def test_nothing_names_one_machine() -> None:
    """A committed file works everywhere, so it names no path of the machine it was made on."""
    tidy(
        "No absolute path of a work machine: name it from the root, the home or a setting.",
        (
            f"{source.path}:{number}: {found[0]}"
            for source in sources()
            for number, line in enumerate(source.text.splitlines(), 1)
            if (found := _MACHINE_PATH.search(line))
        ),
    )


def test_nothing_names_a_package_registry() -> None:
    """Where packages come from is the installer's configuration."""
    tidy(
        "No address of a package registry in a file: pip and npm know theirs.",
        (
            f"{source.path}:{number}: {found[0]}"
            for source in sources()
            for number, line in enumerate(source.text.splitlines(), 1)
            if (found := _REGISTRY.search(line))
        ),
    )


def test_comments_name_their_subject() -> None:
    """A sentence about a thing calls the thing by its name."""
    tidy(
        "A sentence of a comment or docstring names its subject; it never begins with Who, Whom, "
        "Whose, Whoever, What or Whatever, unless it asks.",
        (
            f"{source.path}:{line}: {found[0].strip('.!? ')}"
            for source in python("src/tillhouse", "tests", "story", "statements", "bench", "judges")
            for line, text in (*_told(source.text), *_docstrings(source.tree))
            if (found := _PRONOUN_FIRST.search(" ".join(text.split())))
        ),
    )


def _told(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a file that may have such a sentence; to find them takes a while."""
    return _comments(text) if _COMMENT_WITH_PRONOUN.search(text) else iter(())


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Each comment with its first line; lines that follow one another are one comment."""
    lines = {
        token.start[0]: (token.string.lstrip("#: "), not token.line[: token.start[1]].strip())
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    first, comment = 0, ""
    for number, (words, is_alone) in lines.items():
        if comment and is_alone and number - 1 in lines:
            comment += f" {words}"
            continue
        yield first, comment
        first, comment = number, words
    yield first, comment


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each string that is a statement: of a module, class, function, or below a name."""
    for node in walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, str(node.value.value)
