"""What the generated tests know of the routes of kitchen."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business

MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
