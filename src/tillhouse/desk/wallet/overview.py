"""The page of the wallet: what is free, what moved it, and the switch of payouts."""

from typing import Any

from tillhouse.desk.frame.lists import address
from tillhouse.desk.frame.places import WALLET, frame_of
from tillhouse.desk.frame.words import exact
from tillhouse.desk.page import Onward, PageRequest, Shown
from tillhouse.desk.wallet import operations as ops
from tillhouse.desk.wallet.words import account, entries, withdrawals
from tillhouse.kit.errors import Invalid

PATH = "/desk/wallet"
_ENTRIES, _WITHDRAWALS_SHOWN, _ACCOUNTS_SHOWN = 25, 5, 10
_SUMS = ("openingBalance", "totalIn", "totalOut", "closingBalance")


async def show(page: PageRequest) -> Shown:
    """The wallet, a page of its statement, and the newest withdrawals and accounts."""
    frame, query = await frame_of(page), page.request.query
    period = {name: query[name] for name in ("from", "to") if query.get(name)}
    wallet = (await page.needed(WALLET)).data
    statement, refusal = None, None
    try:
        statement = await page.needed(
            ops.STATEMENT, limit=_ENTRIES, cursor=query.get("cursor"), **period
        )
    except Invalid as problem:
        refusal = problem
    latest, accounts, controls = await page.together(
        page.read(ops.LIST_WITHDRAWALS, limit=_WITHDRAWALS_SHOWN),
        page.read(ops.LIST_ACCOUNTS, limit=_ACCOUNTS_SHOWN),
        page.read(ops.CONTROLS),
    )
    after = statement.extra["meta"]["nextCursor"] if statement else None
    sums = statement.extra["summary"] if statement else None
    now = page.request.now
    facts: dict[str, Any] = {
        "wallet": wallet,
        # None where the days of the address are refused, at their field.
        "entries": entries(statement.data, frame) if statement else None,
        "sums": [(name, exact(sums[name], sums["currency"])) for name in _SUMS] if sums else [],
        "newest": address(PATH, period),
        "older": address(PATH, {**period, "cursor": after}) if after else None,
        "withdrawals": withdrawals(latest.data, frame) if latest else None,
        "accounts": [account(one, frame, now) for one in accounts.data] if accounts else None,
        "controls": controls.data if controls else None,
        "frozen_at": None,
        "limit": "",
        "limit_shown": None,
        "may_withdraw": ops.may_withdraw(page),
        "may_set": page.may(ops.SET_CONTROLS),
        "may_resume": ops.may_resume(page),
    }
    if controls:
        limit = controls.data["maxPerDay"]
        facts["frozen_at"] = frame.when(controls.data["frozenAt"])
        facts["limit"] = "" if limit is None else str(limit)
        facts["limit_shown"] = None if limit is None else exact(limit, frame.currency)
    return Shown("wallet/wallet.html", facts, refusal=refusal)


async def freeze(page: PageRequest) -> Onward:
    """Let nothing be paid out."""
    body: dict[str, Any] = {"frozen": True}
    if reason := page.form.get("reason"):
        body["reason"] = reason
    return await _set(page, body)


async def resume(page: PageRequest) -> Onward:
    """Let withdrawals go again."""
    return await _set(page, {"frozen": False})


async def limit(page: PageRequest) -> Onward:
    """Set the most that leaves the wallet a day, and nothing else."""
    return await _set(page, {"max_per_day": page.form.get("max_per_day") or None})


async def _set(page: PageRequest, body: dict[str, Any]) -> Onward:
    await page.act(ops.SET_CONTROLS, body=body)
    return Onward(PATH)
