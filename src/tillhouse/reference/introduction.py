"""The words of the API reference: introduction, refusals."""

from typing import Any

from tillhouse.room import Composition

INTRODUCTION = """\
Orders, payments, customers and webhooks of one business, on its own server.

**Credentials.** Everything under `/v1` takes an API key: `Authorization: Bearer thsk_test_…`.
A key belongs to one environment, test or live, and sees nothing of the other. Keys are made
under `/api/developer`, which takes the access token of a login instead.

**Answers.** Success is `{message, data, meta?}`. A refusal is `{error, message, details?,
requestId}`: `error` is a word for programs, `details` names every wrong field. Ids are UUIDs,
timestamps ISO 8601 in UTC, amounts exact JSON numbers in the currency beside them. A request
may give an amount as a number or as a decimal string: `1500.5` or `"1500.50"`. Quantities,
counts and rates are numbers.

**Repetition.** An `Idempotency-Key` header makes a write safe to repeat: the first success is
kept for at least seven days and replayed with `Idempotent-Replayed: true`.

**Rate.** Each key may send so many requests per second. `RateLimit` tells what is left, and a
429 says with `Retry-After` when to go on.

This description as a file: [/openapi.json](/openapi.json). In short, for language models:
[/llms.txt](/llms.txt).
"""


# Status → its usual code, and its meaning.
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


def tags(product: Composition) -> list[dict[str, Any]]:
    """The groups that the operations belong to, each with its guide."""
    named = (product.group_of(route.path) for route in product.routes)
    groups = {group.name: group for group in named}
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
    """The facts that a language model needs to begin: /llms.txt."""
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
