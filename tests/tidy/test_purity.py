"""Purity: a decision rests on its arguments alone and leaves them as they were."""

import ast
from collections.abc import Iterator

from tests.tidy.changes import changes
from tests.tidy.pure import DRAWING, LIBRARIES, SOURCES, pure_modules
from tests.tidy.tree import Source, functions, imported, python, tidy, walk

_CLOCK = {"now", "utcnow", "today"}
# A struct or an object that is being made.
_MAKING = {"__init__", "__init_subclass__", "__post_init__"}


def test_what_is_pure_reaches_no_input_or_output() -> None:
    """Neither a pure module nor what it imports, however far down, opens, reads or waits."""
    graph = {source.module: imported(source) for source in python("src/tillhouse")}
    assert len(pure_modules()) > 40, "tests/tidy/pure.py no longer finds what is pure"
    tidy(
        "A pure module (tests/tidy/pure.py) imports no input and no output, nor anything that "
        "does: give it what it needs as an argument.",
        (
            " → ".join(chain)
            for source in pure_modules()
            for chain in _ways_out(graph, source.module)
        ),
    )


def _ways_out(graph: dict[str, set[str]], start: str) -> Iterator[tuple[str, ...]]:
    """The shortest way to each library and room that is not for pure modules."""
    seen = {start}
    ways: list[tuple[str, ...]] = [(start,)]
    for way in ways:
        for name in sorted(graph[way[-1]] - seen):
            seen.add(name)
            if name.startswith("tillhouse.db."):
                yield (*way, name)
            elif name in graph:
                ways.append((*way, name))
            elif not _computes(name, way[-1]):
                yield (*way, name)


def _computes(library: str, importer: str) -> bool:
    top = library.partition(".")[0]
    return top in LIBRARIES or top in SOURCES.get(importer, ()) or top == "tillhouse"


def test_what_is_pure_neither_reads_the_clock_nor_draws() -> None:
    """The time and an id are arguments: the same facts give the same decision."""
    tidy(
        "A pure module gets the time, ids and secrets as arguments; see DRAWING in "
        "tests/tidy/pure.py.",
        (
            found
            for source in pure_modules()
            if source.module not in SOURCES
            for found in _draws(source)
        ),
    )


def _draws(source: Source) -> Iterator[str]:
    for node in walk(source.tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    if alias.name in DRAWING.get(module, ()):
                        yield f"{source.at(node)} {alias.name}"
            case ast.Attribute(value=ast.Name(id=owner), attr=attr):
                is_clock = owner in ("datetime", "date") and attr in _CLOCK
                if is_clock or attr in DRAWING.get(f"tillhouse.kit.{owner}", ()):
                    yield f"{source.at(node)} {owner}.{attr}"
            case _:
                pass


def test_what_is_pure_leaves_its_arguments_as_they_were() -> None:
    """A decision returns something new: its caller may go on with what was handed in."""
    tidy(
        "A pure function changes no argument and nothing that one holds: build a new value "
        "(`msgspec.structs.replace`), and make the struct frozen.",
        (
            f"{source.at(node)} {ast.unparse(node)}"
            for source in pure_modules()
            if source.module not in SOURCES
            for function in functions(source.tree)
            if function.name not in _MAKING
            for node in changes(function)
        ),
    )


def test_what_a_pure_function_changes_is_found() -> None:
    """The rule above sees through loops, parts and other names."""
    code = """
def changed(order, lines, seen, patch):
    order.status = "x"
    order.total += 1
    first, *rest = lines
    first.tax = 1
    for one, share in zip(chosen(lines), [1]):
        one.discount += share
    seen.add(order.id)
    lines += [1]
    patch.tags["a"] = 1
    patch.tags.pop("a")
    after = order
    after.id = 1
    del seen[0]

def kept(order, lines, patch):
    after = msgspec.structs.replace(order, id=1)
    found, total = [], 0
    for one in lines:
        found.append(one)
        total += one.total
    shown = dict(patch)
    shown["a"] = 1
    name = order.name
    name += "x"
    return after, found, total
"""
    changing, keeping = functions(ast.parse(code))
    assert len(list(changes(changing))) == 10
    assert not [ast.unparse(node) for node in changes(keeping)]
