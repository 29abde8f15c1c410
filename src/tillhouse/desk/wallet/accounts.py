"""Pages of payout accounts: the list with its form, and one."""

from typing import Any

from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.page import Onward, PageRequest, Shown
from tillhouse.desk.wallet import operations as ops
from tillhouse.desk.wallet.words import ACCOUNTS, account
from tillhouse.kit.errors import Problem

_PER_PAGE = 25


async def show_list(page: PageRequest) -> Shown:
    """Payout accounts, the newest first, and the form for another one."""
    frame, query = await frame_of(page), page.request.query
    found = await page.needed(ops.LIST_ACCOUNTS, limit=_PER_PAGE, page=query.get("page"))
    may_add = page.may(ops.ADD_ACCOUNT)
    facts: dict[str, Any] = {
        "rows": [account(one, frame, page.request.now) for one in found.data],
        "pager": pager(ACCOUNTS, query, found.extra["meta"]),
        "banks": await _banks(page) if may_add else [],
        "may_add": may_add,
    }
    return Shown("wallet/accounts.html", facts)


async def show_one(page: PageRequest) -> Shown:
    """One payout account."""
    frame = await frame_of(page)
    found = (await page.needed(ops.ACCOUNT, page.path["payout_account_id"])).data
    shown = account(found, frame, page.request.now)
    told = (
        ("number", found["accountNumber"]), ("holder", shown.holder), ("usable", shown.usable),
        ("error", shown.error), ("provider", shown.provider), ("id", shown.id),
    )  # fmt: skip
    facts = {
        "account": shown,
        "facts": [(sentence(f"account_fact.{name}"), value, None) for name, value in told if value],
        "may_remove": page.may(ops.REMOVE_ACCOUNT),
    }
    return Shown("wallet/account.html", facts)


async def add(page: PageRequest) -> Onward:
    """Keep an account; its provider is asked who holds it."""
    form = page.form
    body = {name: form[name] for name in ("bank_code", "account_number") if form.get(name)}
    made = await page.act(ops.ADD_ACCOUNT, body=body, key=form.get("idempotency_key"))
    return Onward(f"{ACCOUNTS}/{made.data['id']}")


async def remove(page: PageRequest) -> Onward:
    """Take an account out of use."""
    account_id = page.path["payout_account_id"]
    await page.act(ops.REMOVE_ACCOUNT, account_id)
    return Onward(f"{ACCOUNTS}/{account_id}")


async def _banks(page: PageRequest) -> list[Any]:
    """The banks to choose from; none where no provider tells them, and a code is typed."""
    try:
        return (await page.needed(ops.BANKS)).data
    except Problem:
        return []
