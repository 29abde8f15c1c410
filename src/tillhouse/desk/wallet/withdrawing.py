"""Pages of withdrawals: the list, the form, and one."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.frame.lists import pager, views
from tillhouse.desk.frame.places import WALLET, frame_of
from tillhouse.desk.frame.words import exact
from tillhouse.desk.orders.operations import ORDER
from tillhouse.desk.page import Onward, PageRequest, Shown
from tillhouse.desk.wallet import operations as ops
from tillhouse.desk.wallet.words import (
    WITHDRAWALS,
    account,
    withdrawal_facts,
    withdrawals,
)
from tillhouse.payouts.withdrawals.actions import WithdrawingByOwner

NEW = "/desk/wallet/withdraw"
VIEWS: Mapping[str, Mapping[str, str]] = {
    "all": {},
    "open": {"status": "requested,processing"},
    "completed": {"status": "completed"},
    "ended": {"status": "failed,cancelled,reversed"},
}
_PER_PAGE, _ACCOUNTS_SHOWN = 25, 100
_FIELDS = ("amount", "payout_account_id", "narration", "reference")
_REFUND = "refund."


async def show_list(page: PageRequest) -> Shown:
    """Withdrawals, the newest first, by their state."""
    frame, query = await frame_of(page), page.request.query
    names = ("status", "payout_account_id", "page")
    wanted = {name: query[name] for name in names if query.get(name)}
    found = await page.needed(ops.LIST_WITHDRAWALS, limit=_PER_PAGE, **wanted)
    facts = {
        "rows": withdrawals(found.data, frame),
        "pager": pager(WITHDRAWALS, query, found.extra["meta"]),
        "views": views(WITHDRAWALS, VIEWS, query),
        "may_withdraw": ops.may_withdraw(page),
    }
    return Shown("wallet/withdrawals.html", facts)


async def show_one(page: PageRequest) -> Shown:
    """One withdrawal, and how far it is."""
    frame = await frame_of(page)
    found = (await page.needed(ops.WITHDRAWAL, page.path["withdrawal_id"])).data
    facts = {
        "withdrawal": found,
        "amount": exact(found["amount"], found["currency"]),
        "facts": list(withdrawal_facts(found, frame)),
        "may_cancel": ops.may_withdraw(page),
    }
    return Shown("wallet/withdrawal.html", facts)


async def show_form(page: PageRequest) -> Shown:
    """The form of a withdrawal; of one that pays a refund out, where the address names an order."""
    if not ops.may_withdraw(page):
        raise WithdrawingByOwner
    frame = await frame_of(page)
    wallet = (await page.needed(WALLET)).data
    accounts = (await page.needed(ops.LIST_ACCOUNTS, limit=_ACCOUNTS_SHOWN)).data
    now = page.request.now
    rows = [account(one, frame, now) for one in accounts if one["status"] == "active"]
    order_id = page.request.query.get("order_id")
    order = (await page.needed(ORDER, order_id)).data if order_id else None
    facts = {
        "available": exact(wallet["available"], wallet["currency"]),
        "accounts": rows,
        "order": order,
    }
    return Shown("wallet/withdraw.html", facts)


async def withdraw(page: PageRequest) -> Onward:
    """Withdraw money from the wallet."""
    form = page.form
    body: dict[str, Any] = {name: form[name] for name in _FIELDS if form.get(name)}
    refund = {
        name: form[_REFUND + name] for name in ("order_id", "reason") if form.get(_REFUND + name)
    }
    if refund:
        body["refund"] = refund
    made = await page.act(ops.WITHDRAW, body=body, key=form.get("idempotency_key"))
    return Onward(f"{WITHDRAWALS}/{made.data['id']}")


async def cancel(page: PageRequest) -> Onward:
    """Cancel a withdrawal that was not sent yet."""
    withdrawal_id = page.path["withdrawal_id"]
    await page.act(ops.CANCEL, withdrawal_id, key=page.form.get("idempotency_key"))
    return Onward(f"{WITHDRAWALS}/{withdrawal_id}")
