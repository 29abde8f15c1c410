"""The words of the API reference: introduction, groups of operations, refusals."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tillhouse.http.route import Route

INTRODUCTION = """\
Orders, payments, customers and webhooks of one business, on its own server.

**Credentials.** Everything under `/v1` takes an API key: `Authorization: Bearer thsk_test_…`.
A key belongs to one environment, test or live, and sees nothing of the other. Keys are made
under `/api/developer`, which takes the access token of a login instead.

**Answers.** Success is `{message, data, meta?}`. A refusal is `{error, message, details?,
requestId}`: `error` is a word for programs, `details` names every wrong field. Ids are UUIDs,
timestamps ISO 8601 in UTC, amounts exact JSON numbers in the currency beside them.

**Repetition.** An `Idempotency-Key` header makes a write safe to repeat: the first success is
kept for at least seven days and replayed with `Idempotent-Replayed: true`.

**Rate.** Each key may send so many requests per second. `RateLimit` tells what is left, and a
429 says with `Retry-After` when to go on.

This description as a file: [/openapi.json](/openapi.json). In short, for language models:
[/llms.txt](/llms.txt).
"""


class Group(msgspec.Struct, frozen=True):
    """Operations that belong together, and the guide that tells of them."""

    name: str
    about: str
    guide: str


_PRODUCTS = Group("Products", "What is sold: products, their variants, bundles.", "catalog")
_MESSAGING = Group("Messaging", "Numbers, conversations and messages.", "messaging")
# Path prefix → group; the first that fits counts.
GROUPS: dict[str, Group] = {
    "/v1/customers": Group("Customers", "The people who buy.", "customers"),
    "/v1/stores": Group("Stores", "The places of business.", "places"),
    "/v1/staff": Group("Staff", "The people who work for the business.", "places"),
    "/v1/table-sessions": Group(
        "Table sessions", "Guests at a table, from sitting down to paying.", "places"
    ),
    "/v1/tables": Group("Tables", "The tables of a restaurant, and who sits at them.", "places"),
    "/v1/academic-terms": Group("Academic terms", "The terms of a school's sales.", "places"),
    "/v1/tags": Group("Tags", "Words that orders are sorted by.", "places"),
    "/v1/debts": Group("Debts", "What customers have yet to pay for their orders.", "finance"),
    "/v1/orders": Group("Orders", "Sales: recorded, paid, scheduled, cancelled.", "orders"),
    "/v1/voice": Group("Voice", "Verify an API key.", "quickstart"),
    "/v1/products": _PRODUCTS,
    "/v1/variants": _PRODUCTS,
    "/v1/categories": Group("Categories", "What products are sorted into.", "catalog"),
    "/v1/modifier-groups": Group(
        "Modifiers", "Choices that go with products, and what they add.", "catalog"
    ),
    "/v1/inventory": Group("Inventory", "Levels of stock, and every move.", "catalog"),
    "/v1/promotions": Group("Promotions", "How much off, for whom, when, how often.", "catalog"),
    "/v1/kitchen": Group(
        "Kitchen", "The board of tickets, and what customers are told at each stage.", "kitchen"
    ),
    "/v1/messaging": _MESSAGING,
    "/v1/conversations": _MESSAGING,
    "/v1/events": Group("Events", "The events of a book as they come.", "webhooks"),
    "/api/auth": Group(
        "Account", "Register a business, log in, prove the password again, log out.",
        "authentication",
    ),
    "/api/developer/webhook-": Group(
        "Webhooks", "Endpoints, signing secrets and deliveries of signed events.", "webhooks"
    ),
    "/api/developer": Group(
        "Developer portal", "Apps, API keys, the audit log and usage.", "authentication"
    ),
}  # fmt: skip

# Status → its usual code, and what it means.
ERRORS = {
    400: ("request_failed", "A rule of the business refuses it, or the body is no JSON"),
    401: ("unauthorized", "The credential is missing, unknown, revoked or expired"),
    403: ("forbidden", "The credential may not do this"),
    404: ("not_found", "There is no such thing in this business and environment"),
    409: (
        "request_failed",
        "It collides with what is there: a limit, or a request that still runs",
    ),
    413: ("payload_too_large", "The body is too large"),
    415: ("unsupported_media_type", "The body is of another type than application/json"),
    422: ("validation_error", "Fields are wrong; details names every one of them"),
    429: ("rate_limit_exceeded", "Too many requests; Retry-After tells when to go on"),
    500: ("internal_error", "A defect on our side; nothing was changed"),
    503: ("unavailable", "The database does not answer; try again shortly"),
}


def group_of(path: str) -> Group:
    """The group of an operation; one that no entry names is called by its path."""
    for prefix, group in GROUPS.items():
        if path.startswith(prefix):
            return group
    name = path.split("/")[2].replace("-", " ").capitalize()
    return Group(name, f"{name}.", "quickstart")


def tags(routes: Sequence[Route]) -> list[dict[str, Any]]:
    """The groups that the routes belong to, each with its guide."""
    groups = {group.name: group for group in (group_of(route.path) for route in routes)}
    return [
        {
            "name": group.name,
            "description": group.about,
            "externalDocs": {
                "description": f"The guide: {group.guide}",
                "url": f"/docs/guides/{group.guide}",
            },
        }
        for group in groups.values()
    ]


def brief(url: str) -> str:
    """What a language model needs to know to begin: /llms.txt."""
    return f"""\
# Tillhouse

> A business platform that a business hosts itself: an HTTP API in JSON for orders, payments,
> customers and webhooks, each business apart, with a test and a live environment.

- [API description]({url}/openapi.json): OpenAPI 3.1, with an example for every operation
- [API reference]({url}/docs): the same for people

## Begin

1. `POST {url}/api/auth/register` with
   `{{"name", "email", "password", "business_name"}}` answers `data.accessToken`.
2. `POST {url}/api/auth/verify-password` with `{{"password"}}` and
   `Authorization: Bearer <accessToken>`: making keys needs it, for 15 minutes.
3. `POST {url}/api/developer/api-keys` with
   `{{"name", "environment": "test", "scopes": ["voice:read"]}}` answers `data.secret`, once.
4. `GET {url}/v1/voice/health` with `Authorization: Bearer <secret>` verifies the key.

## Rules

- Bodies are JSON in snake_case, answers `{{message, data, meta?}}` in camelCase.
- A refusal is `{{error, message, details?, requestId}}`; a 422 names every wrong field.
- Send an `Idempotency-Key` header (a UUID) with each write, and repeat it unchanged on a timeout.
- A test key sees test data only; another business's data reads as 404.
- On 429 or 503 wait as long as `Retry-After` says.
"""
