"""Where a function changes what it was handed: an argument, or something that one holds."""

import ast
from collections.abc import Iterator

from tests.tidy.tree import Function

_CHANGING = {
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse",
    "setdefault", "sort", "update",
}  # fmt: skip
_LISTS = (ast.List, ast.ListComp)


class Handed:
    """The names in a function that stand for arguments, or for what was taken out of them."""

    def __init__(self, function: Function) -> None:
        given = function.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        # The values that a name stands for itself, and those it may hold or be a part of.
        self.themselves = {argument.arg for argument in named}
        self.parts = set(self.themselves)
        self._follow(function)

    def _follow(self, function: Function) -> None:
        known = -1
        while known != len(self.parts) + len(self.themselves):
            known = len(self.parts) + len(self.themselves)
            for node in ast.walk(function):
                match node:
                    case ast.For() | ast.AsyncFor() | ast.comprehension():
                        if self._holds(node.iter):
                            self._note(node.target, is_itself=True)
                    case ast.Assign(targets=targets, value=value):
                        for target in targets:
                            self._assigned(target, value)
                    case ast.AnnAssign(target=target, value=ast.expr() as value):
                        self._assigned(target, value)
                    case ast.NamedExpr(target=target, value=value):
                        self._assigned(target, value)
                    case _:
                        pass

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if self._holds(value):
            self._note(target, is_itself=_root(value) in self.themselves)

    def _note(self, target: ast.expr, *, is_itself: bool) -> None:
        if not isinstance(target, ast.Name | ast.Tuple | ast.List | ast.Starred):
            return
        names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
        self.parts |= names
        if is_itself:
            self.themselves |= names

    def _holds(self, value: ast.expr) -> bool:
        """Whether a value may be, or hold, what was handed in; a new struct is neither."""
        if isinstance(value, ast.Call):
            name = ast.unparse(value.func).split(".")[-1]
            if name == "replace" or name[:1].isupper():
                return False
        return any(isinstance(node, ast.Name) and node.id in self.parts for node in ast.walk(value))


def changes(function: Function) -> Iterator[ast.AST]:
    """Each statement of a function that changes what it was handed."""
    handed = Handed(function)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                if any(_is_written(target, handed) for target in targets):
                    yield node
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                if name in handed.themselves and isinstance(value, _LISTS):
                    yield node
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                if _is_written(target, handed):
                    yield node
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in _CHANGING:
                if _is_held(owner, handed):
                    yield node
            case _:
                pass


def _is_written(target: ast.expr, handed: Handed) -> bool:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return any(_is_written(part, handed) for part in parts)
        case ast.Attribute(value=owner):
            return _root(owner) in handed.parts
        case ast.Subscript(value=owner):
            return _is_held(owner, handed)
        case _:
            return False


def _is_held(owner: ast.expr, handed: Handed) -> bool:
    """Whether it is an argument or a part of one, and no list that the function has made."""
    if isinstance(owner, ast.Name):
        return owner.id in handed.themselves
    return _root(owner) in handed.parts


def _root(node: ast.expr) -> str | None:
    """The name that a chain of attributes and indexes begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
