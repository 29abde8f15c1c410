"""Every operation keeps to its description, whatever fits it or doesn't fit it is sent.

`make proof` sends each operation more of them, and every bound of every field;
TILLHOUSE_TEST_FUZZ=500 sends that many.
"""

import json
import os
import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.contract.conftest import Running, World
from tests.contract.excerpts import excerpt
from tillhouse.app import ROUTES
from tillhouse.reference.pages import document as reference

FEW = 3
MANY = int(os.environ.get("TILLHOUSE_TEST_FUZZ", "8"))

# Rules that a schema can't express: about time, other fields, the business's own rows.
BEYOND_THE_SCHEMA = [
    r"email: is already registered",
    r"\w*password: is among the first that anybody guesses",
    r".*: holds a control character",
    r".*: must not hold signs that turn the direction",
    r"allowed_ip_ranges: is required for a live key",
    r"developer_app_id: is no app of this business and environment",
    r"withdrawal_policy: is required with",
    r"calls_per_day: must be at most \d+: the server allows no more",
    r"This Idempotency-Key was used for another request",
    r"This API key is revoked",
    r"[\w.\[\]]+: must have at most \d decimals",
    r"[\w.\[\]]+: is no [\w ]+ of this business and environment",
    r"(?:updated_since|date|(?:departs_|occurred_)?(?:from|to)): must be (?:in the years|a date)",
    r"Idempotency-Key: is required",
    r"[\w.\[\]]+: must be .*, not a number with a fraction",
    r"type: is \w+, which (?:needs|has no) variants",
    r"components: are (?:required for|for) a bundle",
    r"(?:variants\[\d+\]\.)?tracks_stock: must be false: a \w+ has no stock",
    r"\w+: belongs to each variant",
    r"(?:name|sku|price): is the product's, as this is its only variant",
    r"[\w.]+\[\d+\][\w.]*: is (?:that of another variant|in this list already)",
    r"[\w.\[\]]+: has a price already in this list",
    r"(?:min|max)_choices: must not be (?:more|less) than",
    r"options\[\d+\]\.id: is no option of this group",
    r"(?:\w*(?:phone|number)|from): must be a phone number such as",
    r"[\w.\[\]]+: is no [\w ]+ of this book",
    r"[\w.\[\]]+: is none of this book",
    r"messages\[\d+\]\.stage: is named twice",
    r"provider: must be \w+ in the \w+ environment",
    r"\w+: is (?:required for whatsapp|nothing that the sandbox needs)",
    r"secrets\.(?s:.*): is (?:required for|nothing that) \w+",
    r"served_by_user_id: is no member of this business",
    r"text: is required, unless",
    r"to_store_id: must be another place",
    r"(template|quick_reply_id): stands in the place of a text",
    r"attachment_id: (?:is not there yet|is a sticker|can't be sent with)",
    r"text: (?:can't be sent with|must have at most 1024)",
    # A snooze needs its time, which is of the next year, and no other status has one.
    r"snoozed_until: ",
    # Bounds of a number hold for one in a string as well.
    r"[\w.\[\]]+: must (?:be more than 0|not be 0|be from 0 to)",
    r"items\[\d+\]\.(?:custom_price|variant_id|product_id|product_name|tax_rate): (?:is|needs)",
    r"This invitation is over or was used",
    r"This link is over, was used, or a newer one was sent",
    r"closed_until: must ",
    r"(?:source_id|account|customer_id): (?:can't be combined|is required with)",
    r"(?:items|limit): (?:come|takes in)",
    r"limit: must be at most 100, or comes with format=csv",
    r"items\[\d+\]\.modifiers\[\d+\]\.name: is required for a line without",
    r"(?:scheduled_for|occurred_at|amount_paid|discount_amount|items|amount|tip|at): must ",
    r"tip: is not paid with credit",
    r"(?:payment_)?method: can't be cloove_pay for money that is recorded by hand",
    r"(?:amount|method): is required",
    r"lines\[\d+\]\.(?:item_id|quantity): (?:is|must not exceed)",
    r"restock: goes with lines",
    r"occurred_at: is left out of a scheduled order",
    r"cancellation_reason: goes with status cancelled",
    r"name: must have a letter or a digit",
    # A name of nothing but folders and letters that can't be seen.
    r"filename: must have 1 to",
    r"(?:starts|ends)_(?:on|at): must (?:not be|be in the years|be a date)",
    r"(?:from|to)_time: (?:is required with|must differ from)",
    r"ends_at: must be after starts_at",
    r"(?:category|product)_ids: (?:must be empty|needs)",
    r"The table (?:is out of use|has an open session)",
    r"The (?:session is closed|store has (?:tables|stock))",
    r"until: must be after since",
    r"events: must be ",
    r"(?:date|customer_id): can't be combined with",
    r"from: is required with to",
    r"to: must (?:not be before|be within \d+ days of) from",
    r"(?:from|to): (?:is|asks|must be after)",
    r"The endpoint is disabled",
    r"url: must ",
    r"redirect_url: must ",
    r"customer: needs an email or a phone_number",
    r"customer\.(?:phone_number|email): must be",
    r"The (?:order|debt of order) \w+ has nothing outstanding",
    r"(?:frozen|reason): (?:is required|goes with)",
    r"cursor: (?:lies after|is no cursor|comes with)",
    r"page: must be 1 with updated_since",
    r"Letting withdrawals go again, or raising their limit, is for the owner",
    r"The e-mail address and the phone number belong to two different customers",
    r"customer_phone: (?:must be a number|is on the suppression list)",
    r"not_after: must be (?:later than|in the years)",
    r"step: is no step of this agent's script",
    r"text: is needed with a sound",
    r"sound: must be a WAV",
    r"calling_hours\.until: must be later than from",
    r"provider: must be (?:simulator|a real one)",
    r"(?:is_default|status): the default agent must be active",
    r"model_(?:url|name): (?:is needed where|must )",
    r"check_(?:in|out)_date: (?:is|must|makes)",
    r"check_in: is only for stays that begin today",
    r"adults: and children must be at most",
    r"guest\.\w+: must be",
    r"guest_id: or guest is needed",
    r"room_type_id: is required where",
    r"room_id: is room ",
    r"rate_plan_id: is no rate plan of this room type",
    r"taxes\[\d+\]\.name: is another tax's name",
    r"(?:No room of this type is|Room \w+ is not) free",
    r"reservations\[\d+\]\.\w+: ",
    r"reservation_id: or room_id or guest_id is needed",
    r"The service request is (?:done|cancelled|in_progress)",
    r"The (?:room type has rooms|room has reservations|guest has reservations)",
    r"The (?:reservation is \w+|stay (?:begins|ended) on)",
]

document = json.loads(reference("http://x"))
# It chooses the book of a login. The API is called with a key here, to which it says nothing.
for operation in (o for methods in document["paths"].values() for o in methods.values()):
    told = operation.get("parameters", [])
    operation["parameters"] = [p for p in told if p["name"] != "Service-Environment"]
PATHS = {o["operationId"]: path for path, ms in document["paths"].items() for o in ms.values()}
DRAWN = (HypothesisTestMode.EXAMPLES, HypothesisTestMode.FUZZING)
# The last is every bound of every field: thousands of requests.
ALL = (*DRAWN, HypothesisTestMode.COVERAGE)


def keeps_to_its_description(case: schemathesis.Case, running: Running, world: World) -> None:
    """No 5xx, no undeclared answer, no ignored credential; what fits is taken, the rest is not."""
    aim(case, world)
    case.call_and_validate(
        base_url=running.url,
        session=running.connection,
        headers={"Authorization": f"Bearer {credential(case, world)}"},
        excluded_checks=[positive_data_acceptance],
        additional_checks=[what_fits_is_taken],
    )


@pytest.mark.parametrize(
    ("modes", "requests"),
    [
        pytest.param(DRAWN, FEW, id="few"),
        pytest.param(ALL, MANY, id="many", marks=pytest.mark.proof),
    ],
)
@pytest.mark.parametrize("operation_id", PATHS)
def test_an_operation_keeps_to_its_description(
    operation_id: str,
    modes: tuple[HypothesisTestMode, ...],
    requests: int,
    running: Running,
    world: World,
) -> None:
    """Its schema is made here: those of all operations together take gigabytes."""

    @settings(
        max_examples=requests,
        deadline=None,
        derandomize=True,
        # How long a request takes is the machine's affair.
        suppress_health_check=[HealthCheck.too_slow],
    )
    def check(case: schemathesis.Case) -> None:
        keeps_to_its_description(case, running, world)

    schema = schemathesis.openapi.from_dict(excerpt(document, PATHS[operation_id]))
    # Every request here has a credential; whether it is needed is the check `ignored_auth`.
    schema.config.generation.with_security_parameters = False
    operations = [found.ok() for found in schema.get_all_operations()]
    (operation,) = (o for o in operations if o.definition.raw["operationId"] == operation_id)
    config = HypothesisTestConfig(modes=list(modes), project=schema.config, given_kwargs={})
    create_test(operation=operation, test_func=check, config=config)()


def test_every_operation_has_its_test() -> None:
    """None is left out, and none stands for another."""
    described = [o for methods in document["paths"].values() for o in methods.values()]
    assert len(described) == len(PATHS) == len(ROUTES)


def aim(case: schemathesis.Case, world: World) -> None:
    """Name things that exist: random ids and zones would only ever find nothing."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    values = world.values | world.values_at.get(case.path, {})
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            for name in place.keys() & values.keys():
                if place[name] is not None:
                    place[name] = values[name]


def credential(case: schemathesis.Case, world: World) -> str:
    """An API key for the API, a login for the portal."""
    return world.key if case.path.startswith("/v1/") else world.token


def what_fits_is_taken(ctx: Any, response: Any, case: schemathesis.Case) -> bool | None:
    """Valid data is accepted, unless a rule refuses it that no schema can express.

    A key without the scope would never meet the route: every one here has all.
    """
    told_to_people = ("in the dashboard", "again, logged in")
    is_for_people = response.status_code == 403 and any(t in response.text for t in told_to_people)
    if case.path.startswith("/v1/") and response.status_code == 403 and not is_for_people:
        raise AssertionError(f"The key may not call {case.path}: {response.json()['message']}")
    if is_for_people:
        return None
    if response.status_code in (400, 422):
        body = response.json()
        told = [f"{d['field']}: {d['message']}" for d in body.get("details", [])]
        told = told or [body["message"]]
        if all(any(re.match(rule, text) for rule in BEYOND_THE_SCHEMA) for text in told):
            return None
    return positive_data_acceptance(ctx, response, case)
