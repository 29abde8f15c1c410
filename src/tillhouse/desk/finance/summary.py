"""The page of the summary: a day or a period."""

from typing import Any

from tillhouse.desk.finance import figures
from tillhouse.desk.frame.places import SUMMARY, frame_of
from tillhouse.desk.page import PageRequest, Shown
from tillhouse.kit.errors import Invalid

PATH = "/desk/finance"
_TEMPLATE = "finance/summary.html"


async def show_summary(page: PageRequest) -> Shown:
    """The period in the address, else today; a wrong one is refused at its field."""
    frame, query = await frame_of(page), page.request.query
    presets = figures.presets(PATH, frame.local.date(), query)
    facts: dict[str, Any] = {"presets": presets, "summary": None, "chart": None}
    try:
        told = (await page.needed(SUMMARY, **figures.asked(query), store_id=frame.store_id)).data
    except Invalid as problem:
        return Shown(_TEMPLATE, facts, problem)
    facts |= {"summary": figures.summary(told), "chart": figures.chart(told, frame.local)}
    return Shown(_TEMPLATE, facts)
