"""Stripe in this process: pages (Checkout Sessions), intents, refunds, disputes and hooks."""

import hashlib
import hmac
import re
import time
from decimal import Decimal
from urllib.parse import parse_qsl

from aiohttp import web

from tests.providers.payments.simulators import stripe_shapes as shapes
from tests.providers.payments.simulators.simulator import Handler, Json, Simulator, answer
from tillhouse.providers.payments.exponents import to_units
from tillhouse.providers.payments.provider import ProviderSecrets, RefundState

SECRET_KEY = "sk_test_of-a-simulator"
WEBHOOK_SECRET = "whsec_of-a-simulator"
FEE = Decimal("0.029")
_QUERY = re.compile(r"metadata\['reference'\]:'([^']*)'")


class StripeSimulator(Simulator):
    """Stripe's API, with one account and its idempotency keys."""

    credentials = ProviderSecrets(
        {"secret_key": SECRET_KEY, "webhook_secret": WEBHOOK_SECRET}, is_live=False
    )

    def __init__(self, hook_url: str | None = None) -> None:
        super().__init__(hook_url)
        # By our reference.
        self.sessions: dict[str, Json] = {}
        # By Stripe's ids.
        self.intents: dict[str, Json] = {}
        self.refunds: dict[str, Json] = {}
        self.disputes: list[Json] = []
        # How many units of the settled currency one unit of the paid one is.
        self.exchange_rate = Decimal(1)
        # Restricted keys aren't told whose they are.
        self.is_restricted = False
        # Another request with the same key is said to be under way.
        self.is_under_way = False
        self._kept: dict[str, tuple[bytes, web.Response]] = {}

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the routes of the API that are simulated."""
        for method, path, handler in (
            ("GET", "/v1/account", self._account),
            ("GET", "/v1/balance", self._balance),
            ("POST", "/v1/checkout/sessions", self._open),
            ("GET", "/v1/checkout/sessions/{id}", self._session),
            ("POST", "/v1/checkout/sessions/{id}/expire", self._expire),
            ("GET", "/v1/payment_intents", self._list),
            ("GET", "/v1/payment_intents/search", self._search),
            ("GET", "/v1/payment_intents/{id}", self._intent),
            ("POST", "/v1/refunds", self._refund),
            ("GET", "/v1/refunds", self._list_refunds),
            ("GET", "/v1/refunds/{id}", self._fetch_refund),
            ("GET", "/v1/disputes", self._list_disputes),
        ):
            router.add_route(method, path, self._authorized(handler))

    def refusal(self, words: str, status: int = 404) -> web.Response:
        """A refusal as the vendor writes it."""
        return _refusal(words, "refused", status)

    def sign(self, body: bytes, *, forged: bool = False, at: int | None = None) -> dict[str, str]:
        """The signature is made over a time and the body."""
        key = "whsec_of-somebody-else" if forged else WEBHOOK_SECRET
        moment = int(time.time()) if at is None else at
        signed = f"{moment}.".encode() + body
        signature = hmac.new(key.encode(), signed, hashlib.sha256).hexdigest()
        return {"content-type": "application/json; charset=utf-8",
                "stripe-signature": f"t={moment},v1={signature},v0=0"}  # fmt: skip

    # The events that happen to money.

    async def pay(
        self, reference: str, amount: Decimal | None = None, *, fee: Decimal | None = None
    ) -> str | None:
        """Pay on a page: exactly what it says, and once."""
        session = self.sessions[reference]
        if amount is not None or session["status"] != "open":
            return None
        currency = session["currency"].upper()
        units = session["amount_total"]
        fees = int(units * FEE) if fee is None else to_units("stripe", fee, currency)
        one = shapes.intent(self.next_id(), session)
        one["latest_charge"] = shapes.charge(one, fees, self.exchange_rate)
        self.intents[one["id"]] = one
        session |= {"status": "complete", "payment_status": "paid", "payment_intent": one["id"]}
        self._happen("checkout.session.completed", session)
        self._happen("payment_intent.succeeded", shapes.folded(one))
        return one["id"]

    def _intent_of(self, reference: str) -> Json:
        return self.intents[self.sessions[reference]["payment_intent"]]

    async def dispute(self, reference: str, amount: Decimal | None = None) -> str:
        """Take a payment back until it is known who is right, and a fee."""
        paid = self._intent_of(reference)
        currency = paid["currency"].upper()
        units = paid["amount"] if amount is None else to_units("stripe", amount, currency)
        paid["latest_charge"]["disputed"] = True
        one = shapes.dispute(self.next_id(), paid, units, self.exchange_rate)
        self.disputes.append(one)
        self._happen("charge.dispute.created", one)
        self._happen("charge.dispute.funds_withdrawn", one)
        return one["id"]

    async def close_dispute(self, dispute_id: str, *, is_won: bool) -> None:
        """Decide a dispute; the fee of one that is won stays with Stripe, too."""
        one = next(one for one in self.disputes if one["id"] == dispute_id)
        one["status"] = "won" if is_won else "lost"
        self._happen("charge.dispute.closed", one)
        if is_won:
            taken = one["balance_transactions"][0]
            back = {**taken, "id": f"txn_{self.next_id()}", "amount": -taken["amount"], "fee": 0,
                    "net": -taken["amount"], "reporting_category": "dispute_reversal"}  # fmt: skip
            one["balance_transactions"].append(back)
            self._happen("charge.dispute.funds_reinstated", one)

    async def finish_refund(self, refund_id: str, state: RefundState = "successful") -> None:
        """Settle a refund."""
        one = self.refunds[refund_id]
        if state == "failed":
            one |= {"status": "failed", "failure_reason": "lost_or_stolen_card"}
            self._count_refunds(self.intents[one["payment_intent"]])
            self._happen("refund.failed", one)
        else:
            one["status"] = "succeeded"
            self._happen("refund.updated", one)

    def refund_by_dashboard(self, payment_intent: str, units: int) -> Json:
        """Give back as somebody does by hand, without a word of ours."""
        paid = self.intents[payment_intent]
        one = shapes.refund(self.next_id(), paid, units, {})
        one["status"] = "succeeded"
        self.refunds[one["id"]] = one
        self._count_refunds(paid)
        self._happen("charge.refunded", paid["latest_charge"])
        return one

    def _count_refunds(self, paid: Json) -> None:
        charge = paid["latest_charge"]
        charge["amount_refunded"] = self._given(paid)
        charge["refunded"] = charge["amount_refunded"] == paid["amount"]

    def _given(self, paid: Json) -> int:
        return sum(
            one["amount"] for one in self.refunds.values()
            if one["payment_intent"] == paid["id"] and one["status"] != "failed"
        )  # fmt: skip

    def _happen(self, kind: str, thing: Json) -> None:
        self.queue_hook(shapes.event(self.next_id(), kind, thing))

    # The answers to requests.

    def _authorized(self, handler: Handler) -> Handler:
        async def check(request: web.Request) -> web.Response:
            if not self.takes(request):
                return _refusal("Invalid API Key provided", "api_key_invalid", 401)
            key = request.headers.get("idempotency-key")
            if key is None or request.method != "POST":
                return await handler(request)
            return await self._once(key, request, handler)

        return check

    async def _account(self, _request: web.Request) -> web.Response:
        if self.is_restricted:
            words = "The provided key does not have the required permissions for this endpoint"
            return _refusal(words, "more_permissions_required", 403)
        return answer({"id": f"acct_{self.account_number}", "object": "account", "country": "US"})

    async def _once(self, key: str, request: web.Request, handler: Handler) -> web.Response:
        """The kept answer of a key; another request with it is refused."""
        body = await request.read()
        if self.is_under_way:
            words = "There is currently another in-progress request using this key"
            return _refusal(words, "idempotency_key_in_use", 409)
        if key not in self._kept:
            self._kept[key] = body, await handler(request)
        asked, kept = self._kept[key]
        if asked != body:
            words = "Keys for idempotent requests can only be used with the same parameters"
            return _refusal(words, "idempotency_error")
        return web.Response(status=kept.status, body=kept.body, content_type="application/json")

    async def _balance(self, _request: web.Request) -> web.Response:
        available = [{"amount": 500_000, "currency": "usd", "source_types": {"card": 500_000}}]
        pending = [{"amount": -61_414, "currency": "usd", "source_types": {"card": -61_414}}]
        return answer({"object": "balance", "available": available, "pending": pending,
                       "connect_reserved": [{"amount": 0, "currency": "usd"}],
                       "livemode": False})  # fmt: skip

    async def _open(self, request: web.Request) -> web.Response:
        form = dict(parse_qsl((await request.read()).decode(), keep_blank_values=True))
        wrong = shapes.wrong_session(form)
        if wrong is not None:
            return _refusal(wrong, "parameter_invalid")
        one = shapes.session(self.next_id(), form)
        self.sessions[one["client_reference_id"] or one["id"]] = one
        return answer(shapes.shown(one))

    def _session_of(self, request: web.Request) -> Json | None:
        wanted = request.match_info["id"]
        found = [one for one in self.sessions.values() if one["id"] == wanted]
        return found[0] if found else None

    async def _session(self, request: web.Request) -> web.Response:
        one = self._session_of(request)
        if one is None:
            return _missing("checkout.session", request)
        expands = any(name.startswith("payment_intent") for name in _expanded(request))
        paid = self.intents.get(one["payment_intent"] or "")
        return answer(shapes.shown({**one, "payment_intent": paid} if expands else one))

    async def _expire(self, request: web.Request) -> web.Response:
        one = self._session_of(request)
        if one is None:
            return _missing("checkout.session", request)
        if one["status"] != "open":
            return _refusal("Only Checkout Sessions with a status of open can be expired.", "")
        one["status"] = "expired"
        self._happen("checkout.session.expired", one)
        return answer(shapes.shown(one))

    async def _intent(self, request: web.Request) -> web.Response:
        one = self.intents.get(request.match_info["id"])
        if one is None:
            return _missing("payment_intent", request)
        expands = any(name.startswith("latest_charge") for name in _expanded(request))
        return answer(one if expands else shapes.folded(one))

    async def _list(self, request: web.Request) -> web.Response:
        expands = any("latest_charge" in name for name in _expanded(request))
        found = list(self.intents.values())[::-1]
        return _listed(request, [one if expands else shapes.folded(one) for one in found])

    async def _search(self, request: web.Request) -> web.Response:
        match = _QUERY.fullmatch(request.query["query"])
        if match is None:
            return _refusal("The search query is invalid", "parameter_invalid")
        found = [one for one in self.intents.values() if one["metadata"] == {"reference": match[1]}]
        expands = any("latest_charge" in name for name in _expanded(request))
        shown = found if expands else [shapes.folded(one) for one in found]
        told = {"object": "search_result", "data": shown, "has_more": False, "next_page": None,
                "url": "/v1/payment_intents/search"}  # fmt: skip
        return answer(told)

    async def _refund(self, request: web.Request) -> web.Response:
        form = dict(parse_qsl((await request.read()).decode()))
        paid = self.intents.get(form.get("payment_intent", ""))
        if paid is None:
            return _refusal("No such payment_intent", "resource_missing", 404)
        units = int(form.get("amount", paid["amount"]))
        if self._given(paid) + units > paid["amount"]:
            words = "Refund amount is greater than unrefunded amount on charge"
            return _refusal(words, "charge_already_refunded")
        one = shapes.refund(self.next_id(), paid, units, form)
        self.refunds[one["id"]] = one
        self._count_refunds(paid)
        self.left.append((form.get("metadata[reference]", ""), shapes.major(paid, units)))
        return answer(one)

    async def _list_refunds(self, request: web.Request) -> web.Response:
        of = request.query.get("payment_intent")
        found = [one for one in self.refunds.values() if of in (None, one["payment_intent"])]
        if "data.balance_transaction" in _expanded(request):
            found = [shapes.with_balance(one) for one in found]
        return _listed(request, found[::-1])

    async def _fetch_refund(self, request: web.Request) -> web.Response:
        one = self.refunds.get(request.match_info["id"])
        return _missing("refund", request) if one is None else answer(one)

    async def _list_disputes(self, request: web.Request) -> web.Response:
        of = request.query.get("payment_intent")
        found = [one for one in self.disputes if of in (None, one["payment_intent"])]
        return _listed(request, found[::-1])


def _listed(request: web.Request, found: list[Json]) -> web.Response:
    """A page of what was made in a time, as far as one is asked for."""
    query = request.query
    first, last = int(query.get("created[gte]", 0)), int(query.get("created[lte]", 2**40))
    made = [one for one in found if first <= one["created"] <= last]
    names = [one["id"] for one in made]
    after, size = query.get("starting_after"), int(query.get("limit", 10))
    rest = made[names.index(after) + 1 :] if after is not None else made
    told = shapes.listed(request.path, rest[:size])
    return answer({**told, "has_more": len(rest) > size})


def _expanded(request: web.Request) -> list[str]:
    """The parts to expand: `expand[]` of ours, `expand[0]` of Stripe's own client."""
    return [value for name, value in request.query.items() if name.startswith("expand[")]


def _refusal(message: str, code: str, status: int = 400) -> web.Response:
    error = {"message": message, "code": code, "type": "invalid_request_error",
             "request_log_url": "https://dashboard.stripe.com/test/logs/req_1"}  # fmt: skip
    return answer({"error": error}, status)


def _missing(thing: str, request: web.Request) -> web.Response:
    words = f"No such {thing}: '{request.match_info['id']}'"
    return _refusal(words, "resource_missing", 404)
