"""Whether a customer is told of a stage, and in which words: pure decisions."""

import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from tillhouse.kit.errors import Conflict, FieldError, Refused
from tillhouse.kit.partial import InvalidField
from tillhouse.kitchen.types import (
    NewStageMessage,
    Reason,
    SaleFacts,
    Stage,
    StageMessages,
    Ticket,
)

PLACEHOLDERS = ("customer", "code", "table")
_BRACES = re.compile(r"\{([^{}]*)\}")

# The suggestion shown for a stage without a text; it is never sent.
SUGGESTED: dict[Stage, str] = {
    "queued": "Hi {customer}, we have your order {code}.",
    "preparing": "Your order {code} is being prepared.",
    "ready": "Hi {customer}, your order {code} is ready.",
    "served": "Thank you, {customer}. Enjoy your meal!",
}
# The text in place of a missing name.
_UNNAMED_CUSTOMER = "there"


class AlreadyInKitchen(Conflict, message="The order is in the kitchen already."):
    """The order has a ticket."""


class TicketClosed(
    Refused, message="This order's kitchen ticket is closed: the order was cancelled or deleted."
):
    """The order is over, and so is its ticket."""


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that decide whether a customer is messaged about a stage."""

    is_changed: bool
    is_enabled: bool
    was_told: bool
    has_order: bool
    sale: SaleFacts | None
    has_number: bool
    text: str


def reason_against(telling: Telling) -> Reason | None:
    """Why the customer is not told, the first reason that holds; None when nothing speaks against.

    The order of these lines is the contract's.
    """
    sale = telling.sale
    against: tuple[tuple[bool, Reason], ...] = (
        (not telling.is_changed, "status_unchanged"),
        (not telling.is_enabled, "auto_send_disabled"),
        (telling.was_told, "already_sent"),
        (not telling.has_order, "missing_sale"),
        (sale is None, "sale_not_found"),
        (sale is None or not sale.customer_phone, "missing_customer_phone"),
        (not telling.has_number, "whatsapp_not_connected"),
        (not telling.text.strip(), "empty_message"),
    )
    return next((reason for holds, reason in against if holds), None)


def purpose(ticket: Ticket, stage: Stage) -> str:
    """The purpose of a message: one per ticket and stage."""
    return f"{ticket.id}:{stage}"


def rendered(text: str, sale: SaleFacts | None) -> str:
    """The text with its placeholders filled; without a sale it stays as it was written."""
    if sale is None:
        return text
    values = _values(sale)
    return _BRACES.sub(lambda match: values.get(match[1], match[0]), text)


def parameters(text: str, sale: SaleFacts) -> list[str]:
    """The values of the placeholders in their order, which fill a template."""
    values = _values(sale)
    # A template's parameter must not be empty.
    return [values[name] or "-" for name in _BRACES.findall(text) if name in values]


def _values(sale: SaleFacts) -> dict[str, str]:
    return {
        "customer": sale.customer_name or _UNNAMED_CUSTOMER,
        "code": sale.short_code,
        "table": sale.table_label or "",
    }


def message_errors(asked: StageMessages) -> Iterator[FieldError]:
    """Stages named twice, and placeholders that nothing stands for."""
    seen: set[Stage] = set()
    for index, message in enumerate(asked.messages):
        path = f"messages[{index}]"
        with suppress(InvalidField):
            if message.stage in seen:
                yield FieldError(f"{path}.stage", "is named twice")
            seen.add(message.stage)
        yield from _text_errors(message, path)


def _text_errors(message: NewStageMessage, path: str) -> Iterator[FieldError]:
    try:
        unknown = [name for name in _BRACES.findall(message.text) if name not in PLACEHOLDERS]
    except InvalidField:
        return
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        yield FieldError(
            f"{path}.text", f"holds the unknown placeholder {{{unknown[0][:40]}}}; known: {known}"
        )
