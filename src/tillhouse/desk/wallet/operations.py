"""The operations that pages of the wallet call."""

from tillhouse.desk.operations import Operation, scope_of
from tillhouse.desk.page import PageRequest
from tillhouse.payouts.room import ROOM as PAYOUTS

_WITHDRAWAL = "/v1/wallet/withdrawals/{withdrawal_id}"
_ACCOUNT = "/v1/payout-accounts/{payout_account_id}"

STATEMENT = Operation(PAYOUTS, "GET", "/v1/wallet/statement")
CONTROLS = Operation(PAYOUTS, "GET", "/v1/wallet/payouts")
SET_CONTROLS = Operation(PAYOUTS, "PUT", "/v1/wallet/payouts")
LIST_WITHDRAWALS = Operation(PAYOUTS, "GET", "/v1/wallet/withdrawals")
WITHDRAW = Operation(PAYOUTS, "POST", "/v1/wallet/withdrawals")
WITHDRAWAL = Operation(PAYOUTS, "GET", _WITHDRAWAL)
CANCEL = Operation(PAYOUTS, "POST", _WITHDRAWAL + "/cancel")
LIST_ACCOUNTS = Operation(PAYOUTS, "GET", "/v1/payout-accounts")
BANKS = Operation(PAYOUTS, "GET", "/v1/payout-accounts/banks")
ADD_ACCOUNT = Operation(PAYOUTS, "POST", "/v1/payout-accounts")
ACCOUNT = Operation(PAYOUTS, "GET", _ACCOUNT)
REMOVE_ACCOUNT = Operation(PAYOUTS, "DELETE", _ACCOUNT)

_WITHDRAWERS = next(one.granters for one in PAYOUTS.scopes if one.name == scope_of(WITHDRAW.route))


def may_withdraw(page: PageRequest) -> bool:
    """Whether the person may: roles that may give a key that withdraws do it by a login, too."""
    return page.may(WITHDRAW) and page.member.role in _WITHDRAWERS


def may_resume(page: PageRequest) -> bool:
    """Whether the person may let payouts go again: the owner alone, whoever froze them."""
    return page.may(SET_CONTROLS) and page.member.role == "owner"
