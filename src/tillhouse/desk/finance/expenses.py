"""Pages of expenses: the list with its form, and one."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import instant
from tillhouse.desk.finance import operations as ops
from tillhouse.desk.frame.lists import pager
from tillhouse.desk.frame.places import Frame, frame_of
from tillhouse.desk.frame.words import exact, money_column, named
from tillhouse.desk.page import Onward, PageRequest, Shown

PATH = "/desk/finance/expenses"
Data = Mapping[str, Any]
METHODS = ("cash", "transfer", "card", "other")
_FIELDS = ("amount", "category", "description", "method")
_FILTERS = ("from", "to", "page")
_PER_PAGE = 25


async def show_list(page: PageRequest) -> Shown:
    """Expenses, the newest first, and the form for another one."""
    frame, query = await frame_of(page), page.request.query
    wanted = {name: query[name] for name in _FILTERS if query.get(name)}
    found = await page.needed(ops.LIST_EXPENSES, limit=_PER_PAGE, **wanted, store_id=frame.store_id)
    amounts = money_column([one["amount"] for one in found.data], frame.currency)
    facts: dict[str, Any] = {
        "rows": [_shown(one, frame) | {"amount": amount}
                 for one, amount in zip(found.data, amounts, strict=True)],
        "pager": pager(PATH, query, found.extra["meta"]),
        "methods": METHODS,
        "may_record": page.may(ops.RECORD_EXPENSE),
    }  # fmt: skip
    return Shown("finance/expenses.html", facts)


async def show_one(page: PageRequest) -> Shown:
    """One expense."""
    frame = await frame_of(page)
    found = (await page.needed(ops.EXPENSE, page.path["expense_id"])).data
    expense = _shown(found, frame) | {"amount": exact(found["amount"], found["currency"])}
    facts = {"expense": expense, "may_delete": page.may(ops.DELETE_EXPENSE)}
    return Shown("finance/expense.html", facts)


async def record(page: PageRequest) -> Onward:
    """Record an expense."""
    frame, form = await frame_of(page), page.form
    body = {name: form[name] for name in _FIELDS if form.get(name)}
    if at := form.get("occurred_at"):
        body["occurred_at"] = instant(at, frame.zone)
    if frame.store_id:
        body["store_id"] = frame.store_id
    made = await page.act(ops.RECORD_EXPENSE, body=body, key=form.get("idempotency_key"))
    return Onward(f"{PATH}/{made.data['id']}")


async def delete(page: PageRequest) -> Onward:
    """Take an expense back."""
    await page.act(ops.DELETE_EXPENSE, page.path["expense_id"])
    return Onward(PATH)


def _shown(one: Data, frame: Frame) -> dict[str, Any]:
    return {
        "id": one["id"],
        "address": f"{PATH}/{one['id']}",
        "category": one["category"],
        "description": one["description"],
        "method": named("method", one["method"]),
        "at": one["occurredAt"],
        "when": frame.when(one["occurredAt"]),
        "by": one["recordedBy"]["name"],
        "transaction": one["transactionId"],
    }
