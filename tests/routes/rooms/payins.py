"""The facts that the generated tests need about the routes of payment providers."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business

MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "PUT /v1/payment-providers": lambda _: {"provider": "sandbox", "selected": True},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {}
