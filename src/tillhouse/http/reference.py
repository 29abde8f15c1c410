"""The words of the API reference: introduction, groups of operations, parameters, refusals."""

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

# Path prefix → the group's name and what it holds; a path below none of them names its own.
GROUPS: dict[str, tuple[str, str]] = {
    "/v1/customers": ("Customers", "People who buy, by number, address or name."),
    "/v1/stores": ("Stores", "Where business is done."),
    "/v1/staff": ("Staff", "Who works for the business."),
    "/v1/table-sessions": ("Seatings", "Guests at a table, from sitting down to paying."),
    "/v1/tables": ("Tables", "Tables of a restaurant, and who sits at them."),
    "/v1/academic-terms": ("Terms", "Academic terms, for a school's sales."),
    "/v1/tags": ("Tags", "Words by which orders are sorted."),
    "/v1/debts": ("Debts", "What customers have yet to pay for their orders."),
    "/v1/orders": ("Orders", "Sales: recorded, paid, scheduled, cooked, cancelled."),
    "/v1/voice": ("Voice", "Verify an API key; numbers, agents and calls."),
    "/v1/products": ("Products", "What is sold: products, their variants, bundles."),
    "/v1/variants": ("Products", "What is sold: products, their variants, bundles."),
    "/v1/categories": ("Categories", "What products are sorted into."),
    "/v1/modifier-groups": ("Modifiers", "Choices that go with products, and what they add."),
    "/v1/inventory": ("Inventory", "How much there is of each variant, and every move of it."),
    "/v1/promotions": ("Promotions", "Who gets how much off, when, and how often."),
    "/v1/kitchen": ("Kitchen", "The board of tickets, and what customers hear of each stage."),
    "/v1/messaging": ("Messaging", "Numbers, conversations and messages with customers."),
    "/v1/conversations": ("Messaging", "Numbers, conversations and messages with customers."),
    "/api/auth": ("Account", "Register a business, log in, prove the password again, log out."),
    "/api/developer/webhook-": (
        "Webhooks",
        "Endpoints, signing secrets and deliveries of signed events.",
    ),
    "/api/developer": ("Developer portal", "Apps, API keys, the audit log and usage."),
}

# Status → its usual code, and what it means.
ERRORS = {
    400: ("request_failed", "A rule of the business refuses it, or the body is no JSON"),
    401: ("unauthorized", "The credential is missing, unknown, revoked or expired"),
    403: ("forbidden", "The credential may not do this"),
    404: ("not_found", "There is no such thing in this business and environment"),
    409: ("limit_reached", "It collides with what is there: a limit, or a request that still runs"),
    413: ("payload_too_large", "The body is too large"),
    415: ("unsupported_media_type", "The body is of another type than application/json"),
    422: ("validation_error", "Fields are wrong; details names every one of them"),
    429: ("rate_limit_exceeded", "Too many requests; Retry-After tells when to go on"),
    500: ("internal_error", "A defect on our side; nothing was changed"),
    503: ("unavailable", "The database does not answer; try again shortly"),
}

PARAMETERS = {
    "page": "Which page, counted from 1",
    "limit": "Rows per page",
    "per_page": "Rows per page",
    "api_key_id": "Only what this API key did, or what was done to it",
    "developer_app_id": "Only what belongs to this app",
    "event_type": "Only events of this type",
    "start_date": "From this day or moment on; a day is one in the business's time zone",
    "end_date": "Up to this day, all of it, or up to this moment",
    "days": "How many days back, today included",
    "key_id": "The API key",
    "promotion_id": "The promotion",
    "low": "Only what is at or below its threshold (true), or only the rest (false)",
    "kind": "Only moves of this kind",
    "endpoint_id": "The webhook endpoint",
    "customer_id": "The customer",
    "email": "Only who has this e-mail address",
    "phone": "Only who has this phone number, however it is written",
    "store_id": "The store",
    "staff_id": "Who works for the business",
    "table_id": "The table",
    "session_id": "The table session",
    "term_id": "The academic term",
    "tag_id": "The tag",
    "order_id": "The order",
    "debt_id": "The debt",
    "delivery_id": "The delivery",
    "number_id": "The messaging number",
    "conversation_id": "The conversation",
    "ticket_id": "The kitchen ticket",
    "station": "Only tickets of this station, such as kitchen",
    "all": "Also tickets that are served or closed, the newest first",
    "assignee_id": "Only what this person answers",
    "environment": "The book whose secret is meant",
    "status": "Only what stands so",
    "event_id": "Only deliveries of this event",
    "product_id": "The product",
    "variant_id": "The variant",
    "category_id": "The category",
    "modifier_group_id": "The modifier group",
    "search": "Only what begins so, whatever the case: a name, or a number or code of its own",
    "type": "Only those of this type",
    "is_active": "Only active ones, or only others",
    "updated_since": "Only what changed then or later, the oldest change first",
}


def group_of(path: str) -> tuple[str, str]:
    """The group of an operation, and what the group holds."""
    for prefix, group in GROUPS.items():
        if path.startswith(prefix):
            return group
    name = path.split("/")[2].replace("-", " ").capitalize()
    return name, f"{name}."


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
