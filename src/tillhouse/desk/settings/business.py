"""Pages of the business itself: what receipts say of it, and how its totals are made."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import cleared, faults_at, number
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.frame.sentences import countries_with, sentence
from tillhouse.desk.frame.words import quantity
from tillhouse.desk.page import Onward, PageRequest, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.desk.settings import operations as ops
from tillhouse.desk.settings.sections import BUSINESS, SALES, Section, sections_of
from tillhouse.kit.countries import country_name
from tillhouse.kit.errors import Problem

# A form has one more than there are, up to this many.
_TAX_NUMBERS_MAX = 5
_LISTED = ("address.lines", "service_charge_modes")
_ADDRESS = ("city", "region", "postal_code", "country")
Data = Mapping[str, Any]


async def show_business(page: PageRequest) -> Shown:
    """Name, address and tax numbers."""
    return await _shown(page, BUSINESS)


async def show_sales(page: PageRequest) -> Shown:
    """Tax in prices, stock, and the charge for service."""
    return await _shown(page, SALES)


async def change_business(page: PageRequest) -> Onward:
    """Change what receipts say."""
    return await _change(page, BUSINESS, _business_body(page.form))


async def change_sales(page: PageRequest) -> Onward:
    """Change how totals are made, of orders from now on."""
    percent = page.form.get("service_charge_percent")
    body = {
        "tax_inclusive": page.form.get("tax_inclusive") == "true",
        "stock_policy": page.form.get("stock_policy", ""),
        "restocks_cancelled": "restocks_cancelled" in page.form,
        "service_charge_percent": number(percent) if percent else None,
        "service_charge_modes": page.form.all("service_charge_modes"),
    }
    return await _change(page, SALES, body)


async def _change(page: PageRequest, section: Section, body: dict[str, Any]) -> Onward:
    page.check(ops.CHANGE_BUSINESS)
    await page.act(ops.CHANGE_BUSINESS, body=body)
    return Onward(section.address)


async def _shown(page: PageRequest, section: Section) -> Shown:
    frame = await frame_of(page)
    found = await page.needed(section.operation)
    values = _values(found.data)
    facts: dict[str, Any] = {
        "sections": sections_of(page, frame, section),
        "here": section,
        "business": found.data,
        "values": values,
        "tax_numbers": min(len(found.data["taxNumbers"]) + 1, _TAX_NUMBERS_MAX),
        "may_change": page.may(ops.CHANGE_BUSINESS),
        "modes": found.data["serviceChargeModes"],
        "countries_with": countries_with,
        "country_name": country_name,
    }
    if page.refusal is not None:
        facts |= _typed(page, page.refusal)
    return Shown(f"settings/{section.name}.html", facts)


def _typed(page: PageRequest, problem: Problem) -> dict[str, Any]:
    """All that was typed into the form, and its faults at their fields."""
    lists = {"tax_numbers": [f"tax_numbers.{number}.*" for number in _numbered(page.form)]}
    faults = {
        # The lines of an address are one field, and so are the modes that are charged.
        name.partition("[")[0] if name.startswith(_LISTED) else name: message
        for name, message in faults_at(problem, lists).items()
    }
    return {
        "values": page.form,
        "faults": faults,
        "labels": _labels(),
        "modes": page.form.all("service_charge_modes"),
    }


def _labels() -> dict[str, str]:
    """The names of the fields of tax numbers."""
    return {
        f"tax_numbers.{number}.{part}": sentence(f"settings.tax_{part}", number=number + 1)
        for number in range(_TAX_NUMBERS_MAX)
        for part in ("label", "number")
    }


def _business_body(form: Form) -> dict[str, Any]:
    names = ("name", "type", "country", "time_zone")
    body: dict[str, Any] = {name: form.get(name, "") for name in names}
    return {
        **body,
        **cleared(form, ("legal_name", "receipt_footer")),
        "address": _address(form),
        "tax_numbers": [
            {
                "label": form.get(f"tax_numbers.{number}.label", ""),
                "number": form.get(f"tax_numbers.{number}.number", ""),
            }
            for number in _numbered(form)
        ],
    }


def _address(form: Form) -> dict[str, Any] | None:
    """The address as a whole; None where nothing of it is filled in."""
    lines = [line for line in form.get("address.lines", "").splitlines() if line.strip()]
    parts = {name: form.get(f"address.{name}") or None for name in _ADDRESS}
    if not lines and not any(parts.values()):
        return None
    return {**parts, "lines": lines, "city": parts["city"] or ""}


def _numbered(form: Form) -> list[int]:
    """The tax numbers that something was typed for."""
    return [
        number
        for number in range(_TAX_NUMBERS_MAX)
        if form.get(f"tax_numbers.{number}.label") or form.get(f"tax_numbers.{number}.number")
    ]


def _values(business: Data) -> dict[str, str]:
    """The first values of the forms, by the names of their fields."""
    address: Data = business["address"] or {}
    percent = business["serviceChargePercent"]
    values = {
        "name": business["name"],
        "type": business["type"],
        "country": business["country"],
        "time_zone": business["timeZone"],
        "legal_name": business["legalName"] or "",
        "receipt_footer": business["receiptFooter"] or "",
        "tax_inclusive": "true" if business["taxInclusive"] else "false",
        "stock_policy": business["stockPolicy"],
        "service_charge_percent": "" if percent is None else quantity(percent),
        "address.lines": "\n".join(address.get("lines", ())),
        "address.city": address.get("city") or "",
        "address.region": address.get("region") or "",
        "address.postal_code": address.get("postalCode") or "",
        "address.country": address.get("country") or "",
    }
    if business["restocksCancelled"]:
        values["restocks_cancelled"] = "true"
    for index, one in enumerate(business["taxNumbers"]):
        values[f"tax_numbers.{index}.label"] = one["label"]
        values[f"tax_numbers.{index}.number"] = one["number"]
    return values
