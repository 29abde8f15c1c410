"""Figures of usage, and the fields of an event beside what is documented of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import msgspec
from markupsafe import Markup

from tillhouse.desk import charts

Data = Mapping[str, Any]
_ROUTES_MAX = 20


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a period."""

    total: int
    errors: int
    marks: Markup
    top: str
    middle: str
    # Each day with its label, its mark below the chart, its requests and its errors.
    days: list[tuple[str, str, int, int]]
    best: tuple[str, int]
    # Each route with its requests, its errors and its mean time in milliseconds.
    routes: list[tuple[str, int, int, int]]
    more_routes: int
    statuses: list[tuple[str, int]]


def usage(records: Sequence[Data], count: int, today: date) -> Usage:
    """The figures of some days up to today."""
    by_day, errors, by_status = Counter[str](), Counter[str](), Counter[str]()
    routes: dict[str, list[int]] = {}
    for one in records:
        requests = one["requestCount"]
        by_day[one["date"]] += requests
        errors[one["date"]] += one["errorCount"]
        by_status[one["statusFamily"]] += requests
        sums = routes.setdefault(f"{one['method']} {one['endpoint']}", [0, 0, 0])
        for index, value in enumerate((requests, one["errorCount"], one["totalLatencyMs"])):
            sums[index] += value
    days = [today - timedelta(days=back) for back in range(count - 1, -1, -1)]
    values = [by_day[f"{day}"] for day in days]
    top = charts.top_of(values)
    best = max(days, key=lambda day: by_day[f"{day}"])
    ranked = sorted(routes.items(), key=lambda item: -item[1][0])
    return Usage(
        total=sum(by_day.values()),
        errors=sum(errors.values()),
        marks=charts.bars(values, [], top, len(days) - 1),
        top=f"{top:g}",
        middle=f"{top / 2:g}",
        days=[(f"{day.day} {day:%b}", f"{day.day}" if count <= _ROUTES_MAX + 10 else "",
               by_day[f"{day}"], errors[f"{day}"]) for day in days],
        best=(f"{best.day} {best:%b}", by_day[f"{best}"]),
        routes=[(name, all_of, wrong, round(ms / all_of) if all_of else 0)
                for name, (all_of, wrong, ms) in ranked[:_ROUTES_MAX]],
        more_routes=max(0, len(ranked) - _ROUTES_MAX),
        statuses=sorted(by_status.items()),
    )  # fmt: skip


def fields(schema: Data, data: Data) -> list[tuple[str, str, bool]]:
    """The documented fields of an event: name, type, and whether this event has it."""
    return [(name, _type(one), name in data) for name, one in schema.get("properties", {}).items()]


def _type(one: Data) -> str:
    if "anyOf" in one:
        return " or ".join(_type(each) for each in one["anyOf"])
    reference = one.get("$ref", "").rpartition("/")[2]
    return one.get("format") or one.get("type") or reference
