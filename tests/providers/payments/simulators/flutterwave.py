"""Flutterwave (v3) in this process: charges by transfer, refunds, transfers, banks and hooks."""

from decimal import Decimal

from aiohttp import web

from tests.providers.payments.simulators import flutterwave_shapes as shapes
from tests.providers.payments.simulators.simulator import Handler, Json, Simulator, answer
from tillhouse.providers.payments.provider import PayoutState, ProviderSecrets, RefundState

SECRET_KEY = "FLWSECK_TEST-of-a-simulator"
SECRET_HASH = "a word that both know"
NAMES = {("058", "0123456789"): "ADA OKAFOR", ("044", "0690000040"): "CHINEDU EZE"}
FEE = Decimal("0.014")
_PAGE = 10


class FlutterwaveSimulator(Simulator):
    """Flutterwave's API, with one account; any amount may be paid into an account."""

    prefix = "/v3"
    credentials = ProviderSecrets(
        {"secret_key": SECRET_KEY, "secret_hash": SECRET_HASH}, is_live=False
    )

    def __init__(self, hook_url: str | None = None) -> None:
        super().__init__(hook_url)
        self.charges: dict[str, Json] = {}
        self.transactions: list[Json] = []
        self.transfers: dict[str, Json] = {}
        self.refunds: list[Json] = []
        self.chargebacks: list[Json] = []
        self.refund_status = "completed"
        # Whether transfers are listed by their reference; not all of its papers name that filter.
        self.heeds_reference = True

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the routes of the API that are simulated."""
        for method, path, handler in (
            ("GET", "/balances", self._balances),
            ("POST", "/charges", self._charge),
            ("GET", "/transactions", self._list),
            ("GET", "/transactions/verify_by_reference", self._verify_by_reference),
            ("GET", "/transactions/{id}/verify", self._verify),
            ("POST", "/transactions/{id}/refund", self._refund),
            ("GET", "/refunds", self._list_refunds),
            ("GET", "/refunds/{id}", self._fetch_refund),
            ("GET", "/chargebacks", self._list_chargebacks),
            ("POST", "/transfers", self._transfer),
            ("GET", "/transfers", self._list_transfers),
            ("GET", "/transfers/{id}", self._fetch_transfer),
            ("GET", "/banks/{country}", self._banks),
            ("POST", "/accounts/resolve", self._resolve),
        ):
            # Its own client asks for some with two slashes.
            for start in (self.prefix, f"/{self.prefix}"):
                router.add_route(method, start + path, self._authorized(handler))

    def refusal(self, words: str, status: int = 404) -> web.Response:
        """A refusal as the vendor writes it."""
        return _refusal(words, status)

    def sign(self, body: bytes, *, forged: bool = False) -> dict[str, str]:
        """The same word for every body."""
        word = "another word" if forged else SECRET_HASH
        return {"content-type": "application/json", "verif-hash": word}

    # The events that happen to money.

    async def pay(
        self,
        reference: str,
        amount: Decimal | None = None,
        *,
        fee: Decimal | None = None,
        payer_bears_fee: bool = False,
    ) -> str:
        """Transfer to the account of a charge: each time is a transaction of its own."""
        charge = self.charges[reference]
        sent = Decimal(str(charge["amount"])) if amount is None else amount
        fees = sent * FEE if fee is None else fee
        one = shapes.transaction(self.next_id(), charge, sent, fees)
        if payer_bears_fee:
            one |= {"charged_amount": sent + fees, "amount_settled": sent}
        self.transactions.append(one)
        self.queue_hook(shapes.charge_hook(one))
        return str(one["id"])

    async def dispute(self, reference: str, amount: Decimal | None = None) -> str:
        """Raise a chargeback, of which no hook tells."""
        paid = next(one for one in self.transactions if one["tx_ref"] == reference)
        sent = paid["amount"] if amount is None else amount
        one = shapes.chargeback(self.next_id(), paid, sent)
        self.chargebacks.append(one)
        return str(one["id"])

    async def close_dispute(self, dispute_id: str, *, is_won: bool) -> None:
        """Settle a chargeback."""
        one = next(one for one in self.chargebacks if str(one["id"]) == dispute_id)
        one["status"] = "won" if is_won else "lost"

    def refund_by_dashboard(self, reference: str, amount: Decimal) -> None:
        """Give back as somebody does by hand, without a word of ours."""
        paid = next(one for one in self.transactions if one["tx_ref"] == reference)
        body = {"comments": "By hand"}
        one = shapes.refund(self.next_id(), paid, amount, body, "completed")
        self.refunds.insert(0, one)

    async def finish_payout(self, reference: str, state: PayoutState = "completed") -> None:
        """Settle a transfer."""
        one = self.transfers[reference]
        if state == "completed":
            one |= {"status": "SUCCESSFUL", "complete_message": "Transaction was successful"}
        else:
            one |= {"status": "FAILED", "complete_message": "DISBURSE FAILED: no such account"}
        self.queue_hook({"event": "transfer.completed", "event.type": "Transfer", "data": one})

    async def finish_refund(self, refund_id: str, state: RefundState = "successful") -> None:
        """Settle a refund, of which no hook tells."""
        one = next(one for one in self.refunds if str(one["id"]) == refund_id)
        one["status"] = "completed-bank-transfer" if state == "successful" else state

    # The answers to requests.

    def _authorized(self, handler: Handler) -> Handler:
        async def check(request: web.Request) -> web.Response:
            if not self.takes(request):
                return _refusal("Invalid authorization key", 401)
            return await handler(request)

        return check

    async def _balances(self, _request: web.Request) -> web.Response:
        balance = {"currency": "NGN", "available_balance": 2367840, "ledger_balance": 253125.82}
        return _told("Wallet balances fetched", [balance])

    async def _charge(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        missing = [name for name in ("tx_ref", "amount", "email", "currency") if not body.get(name)]
        if missing or request.query.get("type") != "bank_transfer":
            return _refusal(f"{', '.join(missing)} is required")
        self.charges[body["tx_ref"]] = body
        told = {"status": "success", "message": "Charge initiated",
                "meta": {"authorization": shapes.account(self.next_id(), body)}}  # fmt: skip
        return answer(told)

    async def _list(self, request: web.Request) -> web.Response:
        of = request.query.get("tx_ref")
        found = [one for one in self.transactions if of in (None, one["tx_ref"])]
        whose = {"account_id": self.account_number}
        listed = [{**one, **whose, "id": str(one["id"])} for one in found[::-1]]
        return _page("Transactions fetched", _of_days(request, listed), _page_of(request))

    async def _verify(self, request: web.Request) -> web.Response:
        return self._verified("id", request.match_info["id"])

    async def _verify_by_reference(self, request: web.Request) -> web.Response:
        return self._verified("tx_ref", request.query["tx_ref"])

    def _verified(self, name: str, value: str) -> web.Response:
        for one in self.transactions[::-1]:
            if str(one[name]) == value:
                return _told("Transaction fetched successfully", one)
        return _refusal("No transaction was found for this id", 404 if name == "id" else 400)

    async def _refund(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        for one in self.transactions:
            if str(one["id"]) == request.match_info["id"]:
                return self._refunded(one, body)
        return _refusal("No transaction was found for this id", 404)

    def _refunded(self, paid: Json, body: Json) -> web.Response:
        before = sum(
            one["amount_refunded"] for one in self.refunds
            if one["tx_id"] == paid["id"] and one["status"] != "failed"
        )  # fmt: skip
        amount = Decimal(str(body.get("amount", paid["amount"])))
        if before + amount > paid["amount"]:
            return _refusal("Refund amount is greater than the amount that is left")
        one = shapes.refund(self.next_id(), paid, amount, body, self.refund_status)
        self.refunds.insert(0, one)
        self.left.append((str(body.get("comments")), amount))
        return _told("Transaction refund initiated", one)

    async def _list_refunds(self, request: web.Request) -> web.Response:
        of = request.query.get("id")
        found = [one for one in self.refunds if of in (None, str(one["tx_id"]))]
        return _page("Refunds fetched", _of_days(request, found), _page_of(request))

    async def _list_chargebacks(self, request: web.Request) -> web.Response:
        found = _of_days(request, self.chargebacks[::-1])
        return _page("Chargebacks fetched", found, _page_of(request))

    async def _fetch_refund(self, request: web.Request) -> web.Response:
        for one in self.refunds:
            if str(one["id"]) == request.match_info["id"]:
                return _told("Refund fetched", one)
        return _refusal("No refund was found", 404)

    async def _transfer(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        if body["reference"] in self.transfers:
            return _refusal("Transfer with this reference already exists")
        if body["account_number"].startswith("9"):
            return _refusal("Sorry we could not verify your account number")
        one = shapes.transfer(self.next_id(), body)
        self.transfers[body["reference"]] = one
        self.left.append((body["reference"], Decimal(str(body["amount"]))))
        return _told("Transfer Queued Successfully", one)

    async def _list_transfers(self, request: web.Request) -> web.Response:
        of = request.query.get("reference") if self.heeds_reference else None
        found = [one for one in self.transfers.values() if of in (None, one["reference"])]
        return _page("Transfers fetched", _of_days(request, found[::-1]), _page_of(request))

    async def _fetch_transfer(self, request: web.Request) -> web.Response:
        for one in self.transfers.values():
            if str(one["id"]) == request.match_info["id"]:
                return _told("Transfer fetched", one)
        return _refusal("No transfer was found", 404)

    async def _banks(self, _request: web.Request) -> web.Response:
        return _told("Banks fetched successfully", shapes.BANKS)

    async def _resolve(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        name = NAMES.get((body["account_bank"], body["account_number"]))
        if name is None:
            return _refusal("Sorry, that account number is invalid, please check and try again")
        data = {"account_number": body["account_number"], "account_name": name}
        return _told("Account details fetched", data)


def _told(message: str, data: object) -> web.Response:
    return answer({"status": "success", "message": message, "data": data})


def _page_of(request: web.Request) -> int:
    return int(request.query.get("page", 1))


def _of_days(request: web.Request, found: list[Json]) -> list[Json]:
    """Those that were made from one day to another."""
    first, last = (request.query.get(name) for name in ("from", "to"))
    return [
        one for one in found
        if (first or "") <= str(one["created_at"])[:10] <= (last or "Z")
    ]  # fmt: skip


def _page(message: str, found: list[Json], page: int) -> web.Response:
    pages = max(1, -(-len(found) // _PAGE))
    info = {"total": len(found), "current_page": page, "total_pages": pages}
    data = found[(page - 1) * _PAGE : page * _PAGE]
    told = {"status": "success", "message": message, "meta": {"page_info": info}, "data": data}
    return answer(told)


def _refusal(message: str, status: int = 400) -> web.Response:
    return answer({"status": "error", "message": message, "data": None}, status)
