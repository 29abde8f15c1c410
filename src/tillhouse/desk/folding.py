"""Templates whose constant parts are worked out once, as they are compiled.

A sentence of the catalogue, the address of a file or an icon is the same on each page: a third of
the time of a template went into calls for them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, nodes
from jinja2.visitor import NodeTransformer

# Functions that give the same for the same words, for as long as the process lives.
Constant = Callable[..., str]


class FoldingEnvironment(Environment):
    """An environment that calls some functions as it compiles, where their arguments are given."""

    # By the name that a template calls, and the name of the template that defines a macro.
    constants: Mapping[str, Constant] = {}
    # Macros of a template that all others import under one name.
    macros: tuple[str, str, frozenset[str]] = ("", "", frozenset())

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,
    ) -> str:
        folded = _Folding(self, name).visit(source)
        return super()._generate(folded, name, filename, defer_init)


class _Folding(NodeTransformer):
    def __init__(self, environment: FoldingEnvironment, template: str | None) -> None:
        self._environment = environment
        self._template = template

    def visit_Call(self, node: nodes.Call) -> nodes.Expr:  # noqa: N802 - named by the node
        """Replace a call by its value, where its arguments are constants."""
        self.generic_visit(node)
        function = self._constant(node.node)
        given = [one.value for one in node.args if isinstance(one, nodes.Const)]
        is_plain = not (node.kwargs or node.dyn_args or node.dyn_kwargs)
        if function is None or not is_plain or len(given) != len(node.args):
            return node
        return nodes.Const(function(*given), lineno=node.lineno)

    def _constant(self, called: nodes.Node) -> Constant | None:
        home, alias, names = self._environment.macros
        match called:
            case nodes.Name():
                return self._environment.constants.get(called.name)
            case nodes.Getattr(node=nodes.Name(name=name)) if name == alias:
                if called.attr in names and self._template != home:
                    return self._macro(home, called.attr)
            case _:
                pass
        return None

    def _macro(self, home: str, name: str) -> Any:
        return getattr(self._environment.get_template(home).module, name)
