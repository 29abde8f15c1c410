"""The routes of the wallet, of payout accounts and of withdrawals."""

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.jobs.runner import JobRunner
from tillhouse.payouts.accounts import actions as accounts
from tillhouse.payouts.accounts import checking
from tillhouse.payouts.accounts.store import show_account
from tillhouse.payouts.accounts.types import NewPayoutAccount, PayoutAccount
from tillhouse.payouts.freezing import actions as freezing
from tillhouse.payouts.gateway import find
from tillhouse.payouts.wallet import actions as wallet
from tillhouse.payouts.wallet.types import StatementFilter, StatementMeta, WalletEntry
from tillhouse.payouts.withdrawals import actions as withdrawals


async def list_statement(call: Call, wanted: StatementFilter) -> Reply[list[WalletEntry]]:
    """A page of the statement, where the next one is, and the sums of the period."""
    entries, page, summary = await wallet.list_statement(call, wanted)
    return Reply(entries, extra={"meta": page, "summary": summary})


async def create_account(call: Call, body: NewPayoutAccount) -> Reply[PayoutAccount]:
    """Keep an account, and ask its provider who holds it."""
    account = await accounts.create(call, body)
    return Reply(account, after=lambda: _checked(call, account))


async def _checked(call: Call, account: PayoutAccount) -> Reply[PayoutAccount]:
    """The account as it stands once the provider was asked."""
    kinds = (checking.kind(call.services, find),)
    runner = JobRunner(call.services.pool, kinds, call.services.job_results)
    await runner.run_now(checking.PAYOUT_ACCOUNT, call.book.id, account.id)
    async with call.services.pool.reading() as db:
        after = await show_account(db, call.book.id, account.id)
    return Reply(accounts.shown(after) if after else account)


_WALLET = Scope("wallet:read")
_READ, _WRITE = Scope("payouts:read"), Scope("payouts:write")
_WITHDRAW = Scope("wallet:withdrawals:create")
_ACCOUNTS, _ACCOUNT = "/v1/payout-accounts", "/v1/payout-accounts/{payout_account_id}"
_WITHDRAWALS, _WITHDRAWAL = "/v1/wallet/withdrawals", "/v1/wallet/withdrawals/{withdrawal_id}"
_SWITCH = "/v1/wallet/payouts"

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/wallet", wallet.show_wallet, _WALLET,
          "Read the wallet", "Wallet"),
    Route("GET", "/v1/wallet/statement", list_statement, _WALLET,
          "List what came into the wallet and left it, the newest first", "Wallet statement",
          extra=StatementMeta),
    Route("GET", _SWITCH, freezing.show_controls, _READ,
          "Read whether withdrawals are sent, and their limit", "Payouts"),
    Route("PUT", _SWITCH, freezing.set_controls, _WRITE,
          "Freeze all withdrawals or let them go again, and limit them", "Payouts set",
          faults=freezing.switch_faults),
    Route("GET", _WITHDRAWALS, withdrawals.list_page, _WALLET,
          "List withdrawals, the newest first", "Withdrawals"),
    Route("POST", _WITHDRAWALS, withdrawals.request, _WITHDRAW,
          "Withdraw money from the wallet", "Withdrawal requested",
          status=201, idempotent=True, needs_key=True, faults=withdrawals.new_faults),
    Route("GET", _WITHDRAWAL, withdrawals.show, _WALLET, "Read one withdrawal", "Withdrawal"),
    Route("POST", _WITHDRAWAL + "/cancel", withdrawals.cancel, _WITHDRAW,
          "Cancel a withdrawal that was not sent yet", "Withdrawal cancelled",
          idempotent=True),
    Route("GET", _ACCOUNTS, accounts.list_page, _READ,
          "List payout accounts, the newest first", "Payout accounts"),
    Route("GET", _ACCOUNTS + "/banks", accounts.list_banks, _READ,
          "List the banks that money can be paid out to", "Banks"),
    Route("POST", _ACCOUNTS, create_account, _WRITE,
          "Add a bank account that money can be paid out to", "Payout account added",
          status=201, idempotent=True),
    Route("GET", _ACCOUNT, accounts.show, _READ, "Read one payout account", "Payout account"),
    Route("DELETE", _ACCOUNT, accounts.deactivate, _WRITE,
          "Take a payout account out of use", "Payout account deactivated"),
)  # fmt: skip
