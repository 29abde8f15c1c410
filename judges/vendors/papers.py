"""Paystack's published description judges our requests and the simulator's answers."""

import copy
import json
from collections import Counter
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import yaml
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.vendors import (
    VENDORS,
    account_request,
    paid,
    payout_request,
    refund_request,
)

from tillhouse.kit.clock import now
from tillhouse.providers.payments.paystack import Paystack
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardRefund,
    StatementOf,
    StatementRequest,
)

Json = dict[str, Any]

# A charge by transfer has an answer of its own, which the paths don't name.
BY_TRANSFER = "PaymentChannelCreatePayWithTransferChargeResponse"
_DAY = timedelta(days=1)
_CHARGES = ("/charge", "/charge/{reference}")


async def judge_openapi(description: str, by_transfer: str) -> Counter[str]:
    """Everything that the adapter asks and the simulator answers; how many of each passed."""
    spec, charge = yaml.safe_load(description), yaml.safe_load(by_transfer)
    sim = await PaystackSimulator().start()
    try:
        await _use(sim)
    finally:
        await sim.stop()
    passed: Counter[str] = Counter()
    for asked, told in zip(sim.asked, sim.answered, strict=True):
        operation = spec["paths"][told.route][told.method.lower()]
        if asked.body:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            _check(spec, schema, asked.json, f"request of {told.route}")
            passed["requests"] += 1
        is_charge = told.route in _CHARGES and told.status == HTTPStatus.OK
        schema = charge if is_charge else _of_answer(spec, operation, told.status)
        _check(spec, schema, json.loads(told.body), f"answer of {told.route}")
        passed["answers"] += 1
    return passed


async def _use(sim: PaystackSimulator) -> None:
    """Call every operation."""
    adapter, credentials = Paystack(sim.base_url), sim.credentials
    await adapter.check(credentials)
    payment = await paid(VENDORS[0], sim)
    await adapter.find_payments(credentials, HeardPayment(None, payment.transaction_id))
    opening = account_request(VENDORS[0])
    await adapter.open_account(credentials, opening)
    await adapter.open_account(credentials, opening)
    made = await adapter.refund(credentials, refund_request(VENDORS[0], payment, "100"))
    await adapter.find_refund(credentials, HeardRefund(None, made.provider_reference))
    wanted = payout_request()
    await adapter.pay_out(credentials, wanted)
    await adapter.pay_out(credentials, wanted)
    await adapter.find_payout(credentials, wanted.reference)
    since, until = now() - _DAY, now() + _DAY
    for of in get_args(StatementOf):
        await adapter.read_statement(credentials, StatementRequest(of=of, since=since, until=until))
    await adapter.list_banks(credentials, "NGN")
    await adapter.resolve_name(credentials, "058", "0123456789")


def _of_answer(spec: Json, operation: Json, status: int) -> Json:
    told = operation["responses"].get(str(status))
    if told is None:
        # Refusals that the description doesn't have are all of one form.
        return {"type": "object", "required": ["status", "message"],
                "properties": {"status": {"enum": [False]}}}  # fmt: skip
    if "$ref" in told:
        told = spec["components"]["responses"][told["$ref"].rsplit("/", 1)[1]]
    return told["content"]["application/json"]["schema"]


def _check(spec: Json, schema: Json, body: Any, what: str) -> None:
    whole = _modern({"allOf": [schema], "components": spec["components"]})
    errors = [str(one) for one in jsonschema_rs.validator_for(whole).iter_errors(body)]
    if errors:
        raise SystemExit(f"{what}:\n" + "\n".join(errors))


def _modern(schema: Any) -> Any:
    """Schemas of OpenAPI 3.0 as JSON Schema: null is a type."""
    if isinstance(schema, list):
        return [_modern(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _modern(one) for name, one in copy.copy(schema).items() if name != "example"}
    if made.pop("nullable", False) is True and "type" in made:
        made["type"] = [made["type"], "null"]
    if isinstance(made.get("minimum"), int) and made.get("type") == "string":
        del made["minimum"]
    return made


def judge_samples(folder: Path) -> int:
    """Every published hook is read; the ones that tell of money name something to look up."""
    adapter = Paystack()
    told = 0
    for path in sorted(folder.rglob("*.json")):
        event = json.loads(path.read_text("utf-8")).get("event", "")
        heard = adapter.heard(path.read_bytes())
        matters = event.startswith(("charge.success", "transfer.", "refund.", "charge.dispute"))
        if bool(heard) != matters:
            raise SystemExit(f"{path.name}: {heard}")
        told += matters
    return told
