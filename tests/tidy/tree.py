"""The files of the repository, as the tidy tests look at them."""

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "src/tillhouse"

_MADE_BY_TOOLS = {"__pycache__", "build", "dist", "htmlcov", "node_modules"}
_BINARY = {".gz", ".png", ".ico", ".woff2", ".wav", ".pdf", ".xz"}
# Written by others, word for word.
_FOREIGN = {
    "LICENSE",
    "src/tillhouse/kit/passwords/LICENSE.txt",
    "src/tillhouse/orders/receipts/fonts/LICENSE.txt",
    "src/tillhouse/reference/viewer/static/OFL.txt",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """One file: its path from the root, its text, its syntax tree."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.path).stem

    @property
    def module(self) -> str:
        """The dotted name that it is imported by."""
        return self.path.removeprefix("src/").removesuffix(".py").replace("/", ".").removesuffix(
            ".__init__"
        )  # fmt: skip

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of a Python file."""
        return _parsed(self.path, self.text)

    def at(self, node: ast.AST) -> str:
        """Where a node is, as editors open it."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


@lru_cache(maxsize=2000)
def _parsed(path: str, text: str) -> ast.Module:
    return ast.parse(text, path)


@lru_cache(maxsize=1)
def sources() -> tuple[Source, ...]:
    """Every text of ours that would be committed."""
    return tuple(_walk(ROOT))


def _walk(folder: Path) -> Iterator[Source]:
    for path in sorted(folder.iterdir()):
        place = path.relative_to(ROOT).as_posix()
        if path.is_dir():
            if path.name not in _MADE_BY_TOOLS and (path.name[0] != "." or path.name == ".ci"):
                yield from _walk(path)
        elif path.suffix not in _BINARY and place not in _FOREIGN and _is_ours(path.name):
            yield Source(place, path.read_text(encoding="utf-8"))


def _is_ours(name: str) -> bool:
    # Dot files are left there by tools (.coverage, .run-stamp), but for these two.
    return name[0] != "." or name in (".gitignore", ".dockerignore")


@lru_cache
def python(*folders: str) -> tuple[Source, ...]:
    """The Python files of some folders, `src/tillhouse` and `tests` when none is named."""
    wanted = folders or (PACKAGE, "tests")
    return tuple(
        source
        for source in sources()
        if source.path.endswith(".py") and source.path.startswith(tuple(f"{f}/" for f in wanted))
    )


@lru_cache
def _modules() -> frozenset[str]:
    return frozenset(each.module for each in python(PACKAGE))


def walk(tree: ast.AST) -> Iterable[ast.AST]:
    """Every node of a tree; those of a whole file are found once."""
    return _nodes(tree) if isinstance(tree, ast.Module) else ast.walk(tree)


@lru_cache(maxsize=2000)
def _nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def forget() -> None:
    """Give back the memory that the files take."""
    for kept in (sources, python, _modules, imported, _parsed, _nodes):
        kept.cache_clear()


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function and method, nested ones too."""
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@lru_cache(maxsize=2000)
def imported(source: Source) -> frozenset[str]:
    """The dotted names of the modules that a module imports when it runs, libraries too."""
    modules = _modules()
    found: set[str] = set()
    for node in _executed(source.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inner & modules
            if inner - modules:
                found.add(node.module)
    return frozenset(found)


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes, without what only the type checker sees."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _executed(child)


def docstrings(tree: ast.AST) -> set[int]:
    """The ids of the nodes that are documentation, not data."""
    found: set[int] = set()
    for node in walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(id(first.value))
    return found


def texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """Every string that is data."""
    documentation = docstrings(tree)
    for node in walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in documentation:
            yield node


def tidy(rule: str, findings: Iterable[str]) -> None:
    """Fail with the rule and every place that breaks it."""
    found = sorted(set(findings))
    assert not found, "\n".join([rule, *(f"  {finding}" for finding in found)])
