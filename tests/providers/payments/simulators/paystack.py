"""Paystack in this process: charges by transfer, refunds, transfers, banks and hooks."""

import hashlib
import hmac
from datetime import timedelta
from decimal import Decimal

from aiohttp import web

from tests.providers.payments.simulators import paystack_shapes as shapes
from tests.providers.payments.simulators.simulator import Handler, Json, Simulator, answer
from tillhouse.kit.clock import iso, now, parse_timestamp
from tillhouse.providers.payments.provider import PayoutState, ProviderSecrets, RefundState

SECRET_KEY = "sk_test_of-a-simulator"
# Accounts that name enquiry knows; the first digit of others is a 9.
NAMES = {("058", "0123456789"): "ADA OKAFOR", ("044", "0690000040"): "CHINEDU EZE"}
FEE = Decimal("0.015")


class PaystackSimulator(Simulator):
    """Paystack's API, with one integration."""

    credentials = ProviderSecrets({"secret_key": SECRET_KEY}, is_live=False)

    def __init__(self, hook_url: str | None = None, secret_key: str = SECRET_KEY) -> None:
        super().__init__(hook_url)
        self.credentials = ProviderSecrets({"secret_key": secret_key}, is_live=False)
        self._secret_key = secret_key
        self.transactions: dict[str, Json] = {}
        self.accounts: dict[str, Json] = {}
        self.transfers: dict[str, Json] = {}
        self.recipients: dict[tuple[str, str], Json] = {}
        self.refunds: list[Json] = []
        self.disputes: list[Json] = []
        # Transfers wait in this state until `finish_payout`; "success" settles them at once.
        self.transfer_status = "pending"
        # The name of the filter of refunds; papers of 2019 call it "reference".
        self.refunds_filter = "transaction"

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the routes of the API that are simulated."""
        for method, path, handler in (
            ("GET", "/balance", self._balance),
            ("GET", "/customer", self._customers),
            ("POST", "/transaction/initialize", self._initialize),
            ("POST", "/charge", self._charge),
            ("GET", "/charge/{reference}", self._pending),
            ("GET", "/transaction", self._list),
            ("GET", "/transaction/verify/{reference}", self._verify),
            ("GET", "/transaction/{id}", self._fetch),
            ("POST", "/refund", self._refund),
            ("GET", "/refund", self._list_refunds),
            ("GET", "/refund/{id}", self._fetch_refund),
            ("GET", "/dispute", self._list_disputes),
            ("POST", "/transferrecipient", self._recipient),
            ("POST", "/transfer", self._transfer),
            ("GET", "/transfer", self._list_transfers),
            ("GET", "/transfer/verify/{reference}", self._verify_transfer),
            ("GET", "/bank", self._banks),
            ("GET", "/bank/resolve", self._resolve),
        ):
            router.add_route(method, path, self._authorized(handler))

    def refusal(self, words: str, status: int = 404) -> web.Response:
        """A refusal as the vendor writes it."""
        return _refusal(status, words, "refused")

    def sign(self, body: bytes, *, forged: bool = False) -> dict[str, str]:
        """The signature is made with the secret key of the API."""
        key = "somebody else's" if forged else self._secret_key
        signature = hmac.new(key.encode(), body, hashlib.sha512).hexdigest()
        return {"content-type": "application/json", "x-paystack-signature": signature}

    # The events that happen to money.

    async def pay(
        self,
        reference: str,
        amount: Decimal | None = None,
        *,
        fee: Decimal | None = None,
        payer_bears_fee: bool = False,
        payer: str = "Jadesola Oluwashina",
    ) -> str | None:
        """Transfer to the account of a charge; another amount is turned away, as Paystack does."""
        one = self.transactions[reference]
        sent = one["requested_amount"] if amount is None else int(amount * 100)
        if sent != one["requested_amount"]:
            self.queue_hook(shapes.rejected(sent, one))
            return None
        fees = int(sent * FEE) if fee is None else int(fee * 100)
        one |= {
            "status": "success",
            "amount": sent + fees if payer_bears_fee else sent,
            "fees": fees,
            "paid_at": iso(now()),
            "paidAt": iso(now()),
            "gateway_response": "Approved",
            "authorization": shapes.authorization(payer, self.accounts.get(reference)),
        }
        self.queue_hook({"event": "charge.success", "data": one})
        return str(one["id"])

    async def reverse(self, reference: str) -> None:
        """Take a payment back after all: a lost dispute."""
        self.transactions[reference]["status"] = "reversed"
        self.queue_hook(shapes.dispute_resolved(self.transactions[reference]))

    async def dispute(self, reference: str, amount: Decimal | None = None) -> str:
        """Let a bank ask for a payment back; nothing is taken before it is resolved."""
        paid = self.transactions[reference]
        units = paid["amount"] if amount is None else int(amount * 100)
        one = shapes.dispute(self.next_id(), paid, units)
        self.disputes.append(one)
        self.queue_hook(shapes.dispute_hook("charge.dispute.create", one))
        return str(one["id"])

    async def close_dispute(self, dispute_id: str, *, is_won: bool) -> None:
        """Resolve a dispute; one that is lost is refunded."""
        one = next(one for one in self.disputes if str(one["id"]) == dispute_id)
        resolution = "declined" if is_won else "merchant-accepted"
        one |= {"status": "resolved", "resolution": resolution, "resolvedAt": iso(now())}
        if not is_won:
            paid = one["transaction"]
            made = shapes.refund(self.next_id(), paid, one["refund_amount"], {})
            self.refunds.insert(0, {**made, "dispute": one["id"], "status": "processed"})
            if one["refund_amount"] == paid["amount"]:
                paid["status"] = "reversed"
        self.queue_hook(shapes.dispute_hook("charge.dispute.resolve", one))

    def refund_by_dashboard(self, reference: str, amount: Decimal) -> None:
        """Give back as somebody does by hand, without a word of ours."""
        body = {"merchant_note": "Refund by ada@example.com"}
        made = shapes.refund(self.next_id(), self.transactions[reference], int(amount * 100), body)
        self.refunds.insert(0, made)
        self.set_refund(str(made["id"]), "processed")

    async def fail(self, reference: str) -> None:
        """Let a charge fail, of which no hook tells."""
        self.transactions[reference]["status"] = "failed"

    async def finish_payout(self, reference: str, state: PayoutState = "completed") -> None:
        """Settle a transfer."""
        one = self.transfers[reference]
        status = "success" if state == "completed" else state
        one |= {"status": status, "fee_charged": 1000 if state == "completed" else 0}
        self.queue_hook({"event": f"transfer.{status}", "data": one})

    async def finish_refund(self, refund_id: str, state: RefundState = "successful") -> None:
        """Settle a refund."""
        self.set_refund(refund_id, "processed" if state == "successful" else state)

    def set_refund(self, refund_id: str, status: str) -> None:
        """Give a refund a status of Paystack's, such as needs-attention."""
        one = next(one for one in self.refunds if str(one["id"]) == refund_id)
        one["status"] = status
        of = one["transaction_reference"]
        paid = self.transactions[of]
        given = sum(
            other["amount"] for other in self.refunds
            if other["transaction_reference"] == of and other["status"] == "processed"
        )  # fmt: skip
        if given >= paid["amount"]:
            paid["status"] = "reversed"
        self.queue_hook(shapes.refund_hook(one))

    # The answers to requests.

    def _authorized(self, handler: Handler) -> Handler:
        async def check(request: web.Request) -> web.Response:
            if not self.takes(request):
                return _refusal(401, "Invalid key", "invalid_Key")
            return await handler(request)

        return check

    async def _balance(self, _request: web.Request) -> web.Response:
        balances = [{"currency": "NGN", "balance": 500_000_000}]
        return _told("Balances retrieved", balances)

    async def _customers(self, _request: web.Request) -> web.Response:
        there = [shapes.listed_customer(self.account_number)] if self.transactions else []
        return _told("Customers retrieved", there)

    async def _initialize(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        one = self._opened(body, str(body.get("reference") or f"T{self.next_id()}"))
        code = f"code{one['id']}"
        url = f"https://checkout.paystack.com/{code}"
        data = {"authorization_url": url, "access_code": code, "reference": one["reference"]}
        return _told("Authorization URL created", data)

    def _opened(self, body: Json, reference: str) -> Json:
        number = self.next_id()
        one = shapes.transaction(number, reference, int(body["amount"]), body)
        self.transactions[reference] = one
        return one

    async def _charge(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        wrong = _wrong_charge(body)
        if wrong is not None:
            return _refusal(400, wrong, "missing_params")
        reference = str(body.get("reference") or f"T{self.next_id()}")
        if reference in self.transactions:
            return _refusal(400, "Duplicate Transaction Reference", "duplicate_reference")
        ends = parse_timestamp(body["bank_transfer"]["account_expires_at"])
        if not timedelta(minutes=14) < ends - now() <= timedelta(hours=8):
            return _refusal(400, "account_expires_at is out of range", "invalid_params")
        one = self._opened(body, reference)
        self.accounts[reference] = shapes.account(one, iso(ends))
        return _told("Charge attempted", self.accounts[reference])

    async def _pending(self, request: web.Request) -> web.Response:
        account = self.accounts.get(request.match_info["reference"])
        if account is None:
            return _refusal(400, "Transaction reference not found", "transaction_not_found")
        return _told("Reference check successful", account)

    async def _verify(self, request: web.Request) -> web.Response:
        one = self.transactions.get(request.match_info["reference"])
        if one is None:
            return _refusal(404, "Transaction reference not found.", "transaction_not_found")
        return _told("Verification successful", one)

    async def _list(self, request: web.Request) -> web.Response:
        found = [shapes.fetched(one) for one in self.transactions.values()]
        return _listed("Transactions retrieved", request, found, "created_at")

    async def _list_transfers(self, request: web.Request) -> web.Response:
        found = list(self.transfers.values())
        return _listed("Transfers retrieved", request, found, "createdAt")

    async def _fetch(self, request: web.Request) -> web.Response:
        for one in self.transactions.values():
            if str(one["id"]) == request.match_info["id"]:
                return _told("Transaction retrieved", shapes.fetched(one))
        return _refusal(404, "Transaction not found", "transaction_not_found")

    async def _refund(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        wanted = str(body["transaction"])
        for one in self.transactions.values():
            if wanted in (str(one["id"]), one["reference"]):
                return self._refunded(one, body)
        return _refusal(404, "Transaction not found", "transaction_not_found")

    def _refunded(self, paid: Json, body: Json) -> web.Response:
        before = sum(
            one["amount"] for one in self.refunds
            if one["transaction"] == paid["id"] and one["status"] != "failed"
        )  # fmt: skip
        amount = int(body.get("amount", paid["amount"]))
        if paid["status"] != "success" or before + amount > paid["amount"]:
            return _refusal(400, "Transaction has been fully reversed", "invalid_refund")
        one = shapes.refund(self.next_id(), paid, amount, body)
        self.refunds.insert(0, one)
        self.left.append((str(body.get("merchant_note")), Decimal(amount) / 100))
        return _told("Refund has been queued for processing", shapes.refund_made(one, paid))

    async def _list_refunds(self, request: web.Request) -> web.Response:
        of = request.query.get(self.refunds_filter)
        found = [one for one in self.refunds if of in (None, str(one["transaction"]))]
        return _listed("Refunds retrieved", request, found[::-1], "createdAt")

    async def _list_disputes(self, request: web.Request) -> web.Response:
        of = request.query.get("transaction")
        found = [one for one in self.disputes if of in (None, str(one["transaction"]["id"]))]
        return _listed("Disputes retrieved", request, found, "createdAt")

    async def _fetch_refund(self, request: web.Request) -> web.Response:
        for one in self.refunds:
            if str(one["id"]) == request.match_info["id"]:
                return _told("Refund retrieved", one)
        return _refusal(404, "Refund not found", "refund_not_found")

    async def _recipient(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        key = (body["bank_code"], body["account_number"])
        if not key[1].isdigit() or key[1].startswith("9"):
            return _refusal(400, "Cannot resolve account", "invalid_bank_code")
        if key not in self.recipients:
            self.recipients[key] = shapes.recipient(self.next_id(), body)
        return _told("Transfer recipient created successfully", self.recipients[key], 201)

    async def _transfer(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        reference = body["reference"]
        if reference in self.transfers:
            words = "Please provide a unique reference. Reference already exists on a transfer"
            return _refusal(400, words, "duplicate_reference")
        for one in self.recipients.values():
            if one["recipient_code"] == body["recipient"]:
                made = shapes.transfer(self.next_id(), one, body, self.transfer_status)
                self.transfers[reference] = made
                self.left.append((reference, Decimal(body["amount"]) / 100))
                return _told("Transfer has been queued", shapes.transfer_made(made))
        return _refusal(400, "Recipient specified is invalid", "invalid_transfer_recipient")

    async def _verify_transfer(self, request: web.Request) -> web.Response:
        one = self.transfers.get(request.match_info["reference"])
        if one is None:
            return _refusal(404, "Transfer not found", "transfer_not_found")
        return _told("Transfer retrieved", one)

    async def _banks(self, request: web.Request) -> web.Response:
        size = int(request.query.get("perPage", 50))
        start = int(request.query.get("next", 0))
        banks = shapes.BANKS[start : start + size]
        more = start + size < len(shapes.BANKS)
        meta = {"next": str(start + size) if more else None, "previous": None, "perPage": size}
        return answer({"status": True, "message": "Banks retrieved", "data": banks, "meta": meta})

    async def _resolve(self, request: web.Request) -> web.Response:
        number, bank = request.query["account_number"], request.query["bank_code"]
        name = NAMES.get((bank, number))
        if name is None:
            return _refusal(422, "Could not resolve account name. Check parameters", "unresolved")
        data = {"account_number": number, "account_name": name, "bank_id": 9}
        return _told("Account number resolved", data)


def _told(message: str, data: object, status: int = 200) -> web.Response:
    return answer({"status": True, "message": message, "data": data}, status)


def _listed(message: str, request: web.Request, found: list[Json], at: str) -> web.Response:
    """A page of what was made in a time, the newest first."""
    since = parse_timestamp(request.query.get("from", "1970-01-01T00:00:00Z"))
    until = parse_timestamp(request.query.get("to", "2200-01-01T00:00:00Z"))
    fitting = [one for one in found[::-1] if since <= parse_timestamp(one[at]) <= until]
    size, page = int(request.query.get("perPage", 50)), int(request.query.get("page", 1))
    start = (page - 1) * size
    meta = {"total": len(fitting), "skipped": start, "perPage": size, "page": page,
            "pageCount": -(-len(fitting) // size)}  # fmt: skip
    data = fitting[start : start + size]
    return answer({"status": True, "message": message, "data": data, "meta": meta})


def _refusal(status: int, message: str, code: str) -> web.Response:
    body = {"status": False, "message": message, "meta": {"nextStep": "Look at what you sent"},
            "type": "validation_error", "code": code}  # fmt: skip
    return answer(body, status)


def _wrong_charge(body: Json) -> str | None:
    if not body.get("email"):
        return "Email Address is required"
    if not isinstance(body.get("amount"), int) or body["amount"] < 100:
        return "Amount is invalid"
    return None
