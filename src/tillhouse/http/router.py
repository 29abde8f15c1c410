"""From a path to its endpoint: one step down a tree for each segment."""

from collections.abc import Iterable
from typing import Any

from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.raw import RawEndpoint, RawRoute
from tillhouse.http.route import Route
from tillhouse.kit.errors import Missing, WrongMethod
from tillhouse.kit.suggestions import nearest

_LEAF = "/"
# A deeper path than this is no typing error.
_DEPTH_MAX = 8
# Left out by somebody who read the path of an operation without it.
_PREFIX = "v1"

Found = RouteHandler | RawEndpoint


class Router:
    """The route table as a tree; a fixed segment wins over a parameter."""

    def __init__(self, routes: Iterable[Route], raw: Iterable[RawRoute] = ()) -> None:
        self.endpoints = [RouteHandler(route) for route in routes]
        self._root: dict[str, Any] = {}
        for endpoint in [*self.endpoints, *map(RawEndpoint, raw)]:
            self._add(endpoint, endpoint.route.method)
            if endpoint.route.method == "GET":
                # Every GET can be asked for its head alone (RFC 9110, 9.3.2).
                self._add(endpoint, "HEAD")

    def _add(self, endpoint: Found, method: str) -> None:
        node = self._root
        names: list[str] = []
        for segment in endpoint.route.path.strip("/").split("/"):
            is_parameter = segment.startswith("{")
            if is_parameter:
                names.append(segment[1:-1])
            node = node.setdefault("{}" if is_parameter else segment, {})
        methods = node.setdefault(_LEAF, {})
        if method in methods:
            raise ValueError(f"{method} {endpoint.route.path} is in the table twice")
        methods[method] = (endpoint, names)

    def find(self, method: str, path: str) -> tuple[Found, dict[str, str]]:
        """The endpoint and its path parameters, or `Missing`, or `WrongMethod`."""
        methods, values = self._leaf(path)
        if method not in methods:
            raise WrongMethod(sorted(methods))
        endpoint, names = methods[method]
        return endpoint, dict(zip(names, values, strict=True))

    def methods(self, path: str) -> list[str]:
        """The methods that a path has."""
        return sorted(self._leaf(path)[0])

    def _leaf(self, path: str) -> tuple[dict[str, tuple[Found, list[str]]], list[str]]:
        segments = path[1:].split("/") if path.startswith("/") else []
        found = _find(self._root, segments, 0, [])
        if found is None:
            meant = self._meant(path)
            guess = f" Did you mean {meant}?" if meant else ""
            raise Missing(f"There is nothing at this path.{guess} The API is described at /docs.")
        return found

    def _meant(self, path: str) -> str | None:
        """The path in the table that differs by a slash, the version or one mistyped name."""
        segments = path.split("/", _DEPTH_MAX + 2)
        named = [segment for segment in segments if segment]
        if len(segments) > _DEPTH_MAX + 2 or not named:
            return None
        return _near(self._root, named, 1) or _near(self._root, [_PREFIX, *named], 1)


def _find(
    node: dict[str, Any], segments: list[str], index: int, values: list[str]
) -> tuple[dict[str, tuple[Found, list[str]]], list[str]] | None:
    if index == len(segments):
        return (node[_LEAF], values) if _LEAF in node else None
    segment = segments[index]
    if segment in node and segment != "{}":
        found = _find(node[segment], segments, index + 1, values)
        if found is not None:
            return found
    if "{}" in node and segment:
        return _find(node["{}"], segments, index + 1, [*values, segment])
    return None


def _near(node: dict[str, Any], segments: list[str], edits: int) -> str | None:
    """The path that these segments lead to when so many of them are read as their nearest."""
    if not segments:
        methods: dict[str, tuple[Found, list[str]]] = node.get(_LEAF, {})
        return next((endpoint.route.path for endpoint, _ in methods.values()), None)
    segment, rest = segments[0], segments[1:]
    names = [name for name in node if name not in ("{}", _LEAF)]
    if segment in names:
        return _near(node[segment], rest, edits)
    if edits and (guess := nearest(segment, names)):
        return _near(node[guess], rest, edits - 1)
    return _near(node["{}"], rest, edits) if "{}" in node else None
