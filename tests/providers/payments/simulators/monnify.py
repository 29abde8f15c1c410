"""Monnify in this process: login, transactions with accounts, refunds, transfers and hooks."""

import base64
import hashlib
import hmac
from decimal import Decimal

from aiohttp import web

from tests.providers.payments.simulators import monnify_shapes as shapes
from tests.providers.payments.simulators.simulator import Handler, Json, Simulator, answer
from tillhouse.providers.payments.provider import PayoutState, ProviderSecrets, RefundState

API_KEY = "MK_TEST_SIMULATOR"
SECRET_KEY = "a secret of a simulator"
CONTRACT = "7059707855"
WALLET = "3934178936"
NAMES = {("058", "0123456789"): "ADA OKAFOR", ("044", "0690000040"): "CHINEDU EZE"}
FEE = Decimal("0.01")


class MonnifySimulator(Simulator):
    """Monnify's API, with one contract; any amount may be paid into an account, also in parts."""

    credentials = ProviderSecrets(
        {
            "api_key": API_KEY,
            "secret_key": SECRET_KEY,
            "contract_code": CONTRACT,
            "wallet_account": WALLET,
        },
        is_live=False,
    )

    def __init__(self, hook_url: str | None = None) -> None:
        super().__init__(hook_url)
        # By our reference.
        self.transactions: dict[str, Json] = {}
        self.transfers: dict[str, Json] = {}
        self.refunds: dict[str, Json] = {}
        # Those that are taken: empty it, and all have ended.
        self.tokens: list[str] = []
        self.token_lives = 3599
        # Another transfer like the last one is refused, as within two minutes of it.
        self.refuses_alike = False
        # The payer bears the fees, so that more has to be paid than was asked for.
        self.payer_fee = Decimal(0)
        self.transfer_status = "PENDING"
        # Parts of every transaction's status, whatever they really are.
        self.said_instead: Json = {}

    def further_key(self) -> ProviderSecrets:
        """Another pair of keys of the same contract."""
        key = f"{API_KEY}_{self.next_id()}"
        self.more_keys.append(f"{key}:{SECRET_KEY}")
        return ProviderSecrets({**self.credentials.secrets, "api_key": key}, is_live=False)

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the routes of the API that are simulated."""
        router.add_route("POST", "/api/v1/auth/login", self._login)
        for method, path, handler in (
            ("POST", "/api/v1/merchant/transactions/init-transaction", self._begin),
            ("POST", "/api/v1/merchant/bank-transfer/init-payment", self._open),
            ("GET", "/api/v1/transactions/search", self._list),
            ("GET", "/api/v2/transactions/{reference}", self._status),
            ("GET", "/api/v2/merchant/transactions/query", self._query),
            ("POST", "/api/v1/refunds/initiate-refund", self._refund),
            ("GET", "/api/v1/refunds", self._list_refunds),
            ("GET", "/api/v1/refunds/{reference}", self._refund_status),
            ("POST", "/api/v2/disbursements/single", self._transfer),
            ("GET", "/api/v2/disbursements/single/summary", self._summary),
            ("GET", "/api/v2/disbursements/single/transactions", self._list_transfers),
            ("GET", "/api/v2/disbursements/wallet-balance", self._balance),
            ("GET", "/api/v1/disbursements/account/validate", self._resolve),
            ("GET", "/api/v1/banks", self._banks),
        ):
            router.add_route(method, path, self._authorized(handler))

    def refusal(self, words: str, status: int = 404) -> web.Response:
        """A refusal as the vendor writes it."""
        return _refusal(words, status)

    def sign(self, body: bytes, *, forged: bool = False) -> dict[str, str]:
        """The signature is made with the secret key of the API."""
        key = "somebody else's" if forged else SECRET_KEY
        signature = hmac.new(key.encode(), body, hashlib.sha512).hexdigest()
        return {"content-type": "application/json", "monnify-signature": signature}

    # The events that happen to money.

    async def pay(
        self, reference: str, amount: Decimal | None = None, *, fee: Decimal | None = None
    ) -> str:
        """Transfer to the account of a transaction: several transfers add up."""
        one = self.transactions[reference]
        sent = one["totalPayable"] if amount is None else amount
        fees = sent * FEE if fee is None else fee
        shapes.add_payment(one, sent, fees)
        self.queue_hook(shapes.payment_hook(one))
        return one["transactionReference"]

    async def reverse(self, reference: str) -> None:
        """Take a payment back after all."""
        self.transactions[reference]["paymentStatus"] = "REVERSED"

    def refund_by_dashboard(self, reference: str, amount: Decimal) -> None:
        """Give back as somebody does by hand, without a word of ours."""
        paid = self.transactions[reference]
        name = f"MFY-RFD-{self.next_id()}"
        body = {"refundReference": name, "transactionReference": paid["transactionReference"],
                "refundReason": "By hand", "customerNote": "By hand"}  # fmt: skip
        one = shapes.refund(body, amount)
        one["refundStatus"] = "COMPLETED"
        self.refunds[name] = one
        self._mark_refunded(paid)
        self.queue_hook(shapes.refund_hook(one))

    async def finish_payout(self, reference: str, state: PayoutState = "completed") -> None:
        """Settle a transfer."""
        one = self.transfers[reference]
        status = {"completed": "SUCCESS", "failed": "FAILED", "reversed": "REVERSED"}[state]
        one |= {"status": status, "transactionDescription": f"Transaction {status.lower()}"}
        self.queue_hook(shapes.transfer_hook(one))

    async def finish_refund(self, refund_id: str, state: RefundState = "successful") -> None:
        """Settle a refund."""
        one = self.refunds[refund_id]
        one["refundStatus"] = "COMPLETED" if state == "successful" else "FAILED"
        one["comment"] = "Transaction successful" if state == "successful" else "Account is closed"
        self.queue_hook(shapes.refund_hook(one))
        for paid in self.transactions.values():
            if paid["transactionReference"] == one["transactionReference"]:
                self._mark_refunded(paid)

    def _mark_refunded(self, paid: Json) -> None:
        given = sum(
            one["refundAmount"] for one in self.refunds.values()
            if one["transactionReference"] == paid["transactionReference"]
            and one["refundStatus"] == "COMPLETED"
        )  # fmt: skip
        if given >= paid["amountPaid"]:
            paid["paymentStatus"] = "REFUNDED"

    # The answers to requests.

    async def _login(self, request: web.Request) -> web.Response:
        pairs = [f"{API_KEY}:{SECRET_KEY}", *self.more_keys]
        expected = [f"Basic {base64.b64encode(one.encode()).decode()}" for one in pairs]
        if request.headers.get("authorization") not in expected:
            return _refusal("Bad credentials", 401)
        self.tokens.append(f"token-{self.next_id()}")
        return _told({"accessToken": self.tokens[-1], "expiresIn": self.token_lives})

    def _authorized(self, handler: Handler) -> Handler:
        async def check(request: web.Request) -> web.Response:
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            if token not in self.tokens:
                return answer({"error": "invalid_token", "error_description": "expired",
                               "requestSuccessful": False, "responseMessage": "Unauthorized",
                               "responseCode": "99"}, 401)  # fmt: skip
            return await handler(request)

        return check

    async def _begin(self, request: web.Request) -> web.Response:
        body: Json = await request.json(loads=shapes.exactly)
        if body.get("contractCode") != CONTRACT or body.get("currencyCode") != "NGN":
            return _refusal("Could not find specified contract", 404)
        reference = body["paymentReference"]
        if reference in self.transactions:
            return _refusal("Duplicate payment reference", 422)
        one = shapes.transaction(self.next_id(), body, self.payer_fee)
        self.transactions[reference] = one
        return _told(shapes.begun(one, body))

    def _of(self, name: str, value: str | None) -> Json | None:
        found = [one for one in self.transactions.values() if one[name] == value]
        return found[0] if found else None

    async def _open(self, request: web.Request) -> web.Response:
        body: Json = await request.json()
        one = self._of("transactionReference", body.get("transactionReference"))
        if one is None:
            return _refusal("There's no transaction matching supplied reference", 404)
        return _told(shapes.account(one))

    async def _status(self, request: web.Request) -> web.Response:
        one = self._of("transactionReference", request.match_info["reference"])
        return self._shown(one)

    async def _list(self, request: web.Request) -> web.Response:
        found = [shapes.line(one) for one in self.transactions.values()]
        return _listed(found, int(request.query["page"]), int(request.query["size"]))

    async def _list_transfers(self, request: web.Request) -> web.Response:
        found = list(self.transfers.values())
        return _listed(found, int(request.query["pageNo"]), int(request.query["pageSize"]))

    async def _list_refunds(self, request: web.Request) -> web.Response:
        found = list(self.refunds.values())
        return _listed(found, int(request.query["page"]), int(request.query["size"]))

    async def _query(self, request: web.Request) -> web.Response:
        # Its own client puts either reference into this parameter.
        named = request.query.get("transactionReference") or request.query.get("paymentReference")
        one = self._of("transactionReference", named) or self._of("paymentReference", named)
        return self._shown(one)

    def _shown(self, one: Json | None) -> web.Response:
        if one is None:
            return _refusal("There's no transaction matching supplied reference", 404)
        return _told({**shapes.shown(one), **self.said_instead})

    async def _refund(self, request: web.Request) -> web.Response:
        body: Json = await request.json(loads=shapes.exactly)
        reference = body["refundReference"]
        if reference in self.refunds:
            return _refusal("Duplicate refund reference", 422, "R2")
        paid = self._of("transactionReference", body["transactionReference"])
        if paid is None:
            return _refusal("Transaction with specified reference does not exist", 404, "R1")
        if len(body["customerNote"]) > 16:
            return _refusal("customerNote is too long", 400)
        amount = Decimal(str(body.get("refundAmount") or body["amount"]))
        before = sum(
            one["refundAmount"] for one in self.refunds.values()
            if one["transactionReference"] == paid["transactionReference"]
            and one["refundStatus"] != "FAILED"
        )  # fmt: skip
        if before + amount > paid["amountPaid"]:
            return _refusal("Refund amount exceeds the amount paid", 422, "R3")
        one = shapes.refund(body, amount)
        self.refunds[reference] = one
        self.left.append((reference, amount))
        return _told(one)

    async def _refund_status(self, request: web.Request) -> web.Response:
        one = self.refunds.get(request.match_info["reference"])
        return _refusal("Refund not found", 404) if one is None else _told(one)

    async def _transfer(self, request: web.Request) -> web.Response:
        body: Json = await request.json(loads=shapes.exactly)
        amount = Decimal(str(body["amount"]))
        if body["reference"] in self.transfers:
            return _refusal("Duplicate reference", 422)
        if body["sourceAccountNumber"] != WALLET:
            return _refusal("Wallet not found for the merchant", 404)
        if body["destinationAccountNumber"].startswith("9"):
            return _refusal("Invalid destination account", 422)
        if self.refuses_alike:
            words = "Please wait for 2 minutes before you send the same amount to this account"
            return _refusal(words, 422, "D07")
        one = shapes.transfer(self.next_id(), body, amount, self.transfer_status)
        self.transfers[body["reference"]] = one
        self.left.append((body["reference"], amount))
        return _told(shapes.transfer_made(one))

    async def _summary(self, request: web.Request) -> web.Response:
        one = self.transfers.get(request.query["reference"])
        return _refusal("Transfer not found", 404) if one is None else _told(one)

    async def _balance(self, _request: web.Request) -> web.Response:
        return _told({"availableBalance": "4919798101.36", "ledgerBalance": "4919798101.36"})

    async def _resolve(self, request: web.Request) -> web.Response:
        number, bank = request.query["accountNumber"], request.query["bankCode"]
        name = NAMES.get((bank, number))
        if name is None:
            return _refusal("Account number is invalid", 422)
        return _told({"accountNumber": number, "accountName": name, "bankCode": bank})

    async def _banks(self, _request: web.Request) -> web.Response:
        return _told(shapes.BANKS)


def _told(body: object) -> web.Response:
    told = {"requestSuccessful": True, "responseMessage": "success", "responseCode": "0",
            "responseBody": body}  # fmt: skip
    return answer(told)


def _listed(found: list[Json], page: int, size: int) -> web.Response:
    """A page, the newest first."""
    pages = max(1, -(-len(found) // size))
    content = found[::-1][page * size : (page + 1) * size]
    return _told({
        "content": content, "last": page + 1 >= pages, "totalPages": pages,
        "totalElements": len(found), "first": page == 0, "numberOfElements": len(content),
        "size": size, "number": page, "empty": not content,
    })  # fmt: skip


def _refusal(message: str, status: int, code: str = "99") -> web.Response:
    told = {"requestSuccessful": False, "responseMessage": message, "responseCode": code}
    return answer(told, status)
