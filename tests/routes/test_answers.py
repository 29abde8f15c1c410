"""Every answer has its schema, its headers and its price. Generated from the route table."""

from typing import Any, get_origin

import pytest

from tests.make import Make
from tests.routes.conftest import Exchanges
from tests.routes.table import (
    BEHIND_A_CREDENTIAL,
    DOCUMENT,
    every,
    examples,
    misfits,
    name_of,
    operation,
    random_path,
)
from tillhouse.app import ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Open, Route

SAFE = {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}
ERROR = {"$ref": "#/components/schemas/Error"}

GET_ONE, GET_LIST, WRITE = 1, 2, 7
# Statements of routes that need more, besides BEGIN, COMMIT and the check of the credential.
BUDGETS: dict[str, int] = {
    # Owner, business with both books, chain, two apps with their signing secrets and the data
    # key that seals these, sandbox number, number and agent of voice, first audit event, session.
    "POST /api/auth/register": 13,
    # Invitation, person, the counts of attempts at passwords (5), the line of changes of members,
    # the use of the invitation, person, member, audit event, session,
    # and the factor once more.
    "POST /api/auth/accept-invitation": 14,
    # The judged password: its hash, what is counted (3), the count; the user's row, the sessions
    # (2), and for each business an event of the audit log.
    "POST /api/auth/change-password": 14,
    # The link, the count of wrong ones; the user's row, the use of the link, the password, the
    # sessions, the count of wrong passwords, the payouts, the person's businesses and for each an
    # event of the audit log (3), the mail.
    "POST /api/auth/reset-password": 11,
    # The factor, what is counted of wrong codes (3, and their locks), the user's row, the factor
    # on, the other sessions' end, and for each business an event of the audit log.
    "POST /api/auth/second-factor/confirm": 10,
    # The business's data key is read once per process, and the limit counts under a lock.
    "POST /api/developer/api-keys": 8,
    # The order before; what its deposit needs, what is asked, what arrived and is applied; the
    # order after.
    "POST /v1/orders/{order_id}/requery": 15,
    # Earlier ones that are due, claims of disputes; the facts; the limits of the app (2) and of the
    # business; the hold, its transaction, the row with its job, the event, the answer.
    "POST /v1/wallet/withdrawals": 12,
    # The payments of a provider under their locks, before the order; the facts, the refund, what
    # it writes, the event, the order after.
    "POST /v1/orders/{order_id}/refunds": 8,
    # The currency, the row with its job, the audit log; after the commit the job is taken, the
    # provider asked, the job recorded.
    "POST /v1/payout-accounts": 10,
    # The stay under its lock; the payment: its postings, its row, its event; the stay's orders and
    # its money; the folio after; the answer.
    "POST /v1/hotel/reservations/{reservation_id}/payments": 8,
    # The stay under its lock, its nights so far; the first night: its facts, the order, the night;
    # what is owed (2); the reservation and its room, the event; the folio after, what of it goes
    # back through providers; the answer.
    "POST /v1/hotel/reservations/{reservation_id}/check-out": 14,
    # The stay under its lock; the types and the rooms of the move; the stay in its room, the room
    # that it leaves, the audit log; the answer.
    "POST /v1/hotel/reservations/{reservation_id}/move": 8,
    # The agent, whose script has the steps; its sounds.
    "GET /v1/voice/agents/{voice_agent_id}/prompts": 2,
    # The records; then orders, answers, messages and attachments, as they were counted.
    "GET /api/developer/usage": 6,
    # The clock of the business or the store says when its days begin.
    "GET /v1/finance/summary": 2,
    "GET /v1/ledger/closing": 2,
    # The person; the keys that they made.
    "GET /v1/members/{user_id}": 2,
}


def budget(route: Route) -> int:
    """How many statements the route may send."""
    if name_of(route) in BUDGETS:
        return BUDGETS[name_of(route)]
    if route.method != "GET":
        return WRITE
    return GET_LIST if get_origin(RouteHandler(route).data_type) is list else GET_ONE


@every(ROUTES)
async def test_a_route_keeps_its_statement_budget(route: Route, exchanges: Exchanges) -> None:
    """One statement for one thing, two for a list, seven for a write."""
    statements = (await exchanges.with_route(route)).statements
    spent = statements - (not isinstance(route.guard, Open))
    assert spent <= budget(route), spent


@every(ROUTES)
async def test_an_answer_fits_its_schema(route: Route, exchanges: Exchanges) -> None:
    """The answer is the one that the document promises."""
    answer = (await exchanges.with_route(route)).answer
    described = operation(route)["responses"][str(route.status)]
    assert misfits(described["content"]["application/json"]["schema"], answer.json) == []


@every(ROUTES)
async def test_an_answer_says_what_its_example_says(route: Route, exchanges: Exchanges) -> None:
    """The same message, with the same members beside it: else run `make docs`."""
    answer = (await exchanges.with_route(route)).answer.json
    described = operation(route)["responses"][str(route.status)]["content"]["application/json"]
    [example] = examples(described)
    assert (example["message"], example.keys()) == (answer["message"], answer.keys())


@every(BEHIND_A_CREDENTIAL)
async def test_a_refusal_fits_its_schema(route: Route, make: Make) -> None:
    """Refusals are documented as well, by status and body."""
    answer = await make.anybody.request(route.method, random_path(route), {}, status=401)
    assert "401" in operation(route)["responses"]
    assert misfits(ERROR, answer.json) == []
    assert answer.json["requestId"] == answer.headers["x-request-id"]


@every(ROUTES)
async def test_an_answer_has_safe_headers_and_its_request_id(
    route: Route, exchanges: Exchanges
) -> None:
    """Success and refusal alike; a good id that was sent comes back, a bad one doesn't."""
    business, answer, _ = await exchanges.with_route(route)
    assert SAFE.items() <= answer.headers.items()
    assert answer.headers["x-request-id"] == exchanges.ID
    for bad in ("", "x" * 129, "two words", 'quo"te', "\xe9"):
        refusal = await business.anybody.request(
            route.method, "/v1/nowhere", headers={"x-request-id": bad}, status=404
        )
        assert SAFE.items() <= refusal.headers.items()
        assert len(refusal.headers["x-request-id"]) == 36


def _contents(route: Route) -> dict[str, Any]:
    described = operation(route)
    places = {"request": described.get("requestBody", {})}
    places |= described["responses"]
    return {n: p["content"]["application/json"] for n, p in places.items() if "content" in p}


@every(ROUTES)
def test_every_example_of_a_route_fits_its_schema(route: Route) -> None:
    """An example that is refused teaches nothing."""
    for name, content in _contents(route).items():
        for example in examples(content):
            assert misfits(content["schema"], example) == [], name


@pytest.mark.parametrize("status", sorted(DOCUMENT["components"]["responses"]))
def test_every_example_of_a_refusal_fits_its_schema(status: str) -> None:
    """The shared refusals have examples too."""
    content = DOCUMENT["components"]["responses"][status]["content"]["application/json"]
    for example in examples(content):
        assert misfits(content["schema"], example) == []


@pytest.mark.parametrize("name", sorted(DOCUMENT["components"]["schemas"]))
def test_every_example_of_a_field_fits_its_schema(name: str) -> None:
    """Also those that stand beside a single field."""
    fields = DOCUMENT["components"]["schemas"][name].get("properties", {})
    for field, schema in fields.items():
        for example in schema.get("examples", []):
            assert misfits(schema, example) == [], field


def test_operation_ids_are_unique_and_every_reference_leads_somewhere() -> None:
    """Clients are generated from these."""
    ids = [operation(route)["operationId"] for route in ROUTES]
    assert len(set(ids)) == len(ids)
