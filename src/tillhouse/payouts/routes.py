"""The routes of the wallet, of payout accounts and of withdrawals."""

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.payouts.wallet import actions as wallet
from tillhouse.payouts.wallet.types import StatementFilter, StatementMeta, WalletEntry


async def list_statement(call: Call, wanted: StatementFilter) -> Reply[list[WalletEntry]]:
    """A page of the statement, and where the next one is."""
    entries, page = await wallet.list_statement(call, wanted)
    return Reply(entries, extra={"meta": page})


_WALLET = Scope("wallet:read")

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/wallet", wallet.show_wallet, _WALLET,
          "Read the wallet", "Wallet"),
    Route("GET", "/v1/wallet/statement", list_statement, _WALLET,
          "List what came into the wallet and left it, the newest first", "Wallet statement",
          extra=StatementMeta),
)  # fmt: skip
