"""The pages of the wallet, joined."""

from tillhouse.desk.frame.places import WALLET
from tillhouse.desk.page import Goal, Live, PageRoute
from tillhouse.desk.wallet import accounts, overview, withdrawing
from tillhouse.desk.wallet.operations import LIST_ACCOUNTS, LIST_WITHDRAWALS
from tillhouse.desk.wallet.words import ACCOUNTS, WITHDRAWALS

_WITHDRAWAL = WITHDRAWALS + "/{withdrawal_id}"
_ACCOUNT = ACCOUNTS + "/{payout_account_id}"

_MONEY = ("figures", "moves")
_LIVE = Live((WALLET,), {"wallet.": _MONEY, "payment.": _MONEY, "order.": _MONEY})
ROUTES = (
    PageRoute("GET", overview.PATH, overview.show, live=_LIVE),
    PageRoute("POST", f"{overview.PATH}/freeze", overview.freeze, refused=overview.show),
    PageRoute("POST", f"{overview.PATH}/resume", overview.resume, refused=overview.show),
    PageRoute("POST", f"{overview.PATH}/limit", overview.limit, refused=overview.show),
    PageRoute("GET", withdrawing.NEW, withdrawing.show_form),
    PageRoute("POST", withdrawing.NEW, withdrawing.withdraw, refused=withdrawing.show_form),
    PageRoute(
        "GET",
        WITHDRAWALS,
        withdrawing.show_list,
        goal=Goal("withdrawals.title", (LIST_WITHDRAWALS,)),
    ),
    PageRoute("GET", _WITHDRAWAL, withdrawing.show_one),
    PageRoute("POST", f"{_WITHDRAWAL}/cancel", withdrawing.cancel, refused=withdrawing.show_one),
    PageRoute("GET", ACCOUNTS, accounts.show_list, goal=Goal("accounts.title", (LIST_ACCOUNTS,))),
    PageRoute("POST", ACCOUNTS, accounts.add, refused=accounts.show_list),
    PageRoute("GET", _ACCOUNT, accounts.show_one),
    PageRoute("POST", f"{_ACCOUNT}/remove", accounts.remove, refused=accounts.show_one),
)
