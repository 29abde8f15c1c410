"""Why a customer is not told: the contract's table, reason by reason and in its order."""

from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kitchen.sale_rows import PHONE
from tillhouse.kit.errors import FieldError
from tillhouse.kit.ids import new_id
from tillhouse.kitchen.rules import Telling, message_errors, parameters, reason_against, rendered
from tillhouse.kitchen.types import NewStageMessage, SaleFacts, StageMessages, StageText

SALE = SaleFacts(
    order_id=new_id(),
    short_code="7KQ4M2XB",
    customer_name="Bola",
    customer_phone=PHONE,
    table_label="T4",
)
GOOD = Telling(
    is_changed=True,
    is_enabled=True,
    was_told=False,
    has_order=True,
    sale=SALE,
    has_number=True,
    text="Ready.",
)
# In the order of the contract's table; the last two are found out by sending.
AGAINST: dict[str, dict[str, Any]] = {
    "status_unchanged": {"is_changed": False},
    "auto_send_disabled": {"is_enabled": False},
    "already_sent": {"was_told": True},
    "missing_sale": {"has_order": False},
    "sale_not_found": {"sale": None},
    "missing_customer_phone": {"sale": msgspec.structs.replace(SALE, customer_phone=None)},
    "whatsapp_not_connected": {"has_number": False},
    "empty_message": {"text": " \n"},
}


def test_nothing_speaks_against_a_good_one() -> None:
    """Then it is sent."""
    assert reason_against(GOOD) is None


@pytest.mark.parametrize("reason", AGAINST)
def test_each_reason_by_itself(reason: str) -> None:
    """One thing is amiss, and its reason is named."""
    assert reason_against(msgspec.structs.replace(GOOD, **AGAINST[reason])) == reason


@pytest.mark.parametrize(("first", "second"), list(combinations(AGAINST, 2)))
def test_of_two_reasons_the_earlier_is_told(first: str, second: str) -> None:
    """The table's order decides, for every pair of reasons."""
    amiss = {**AGAINST[second], **AGAINST[first]}
    assert reason_against(msgspec.structs.replace(GOOD, **amiss)) == first


def test_placeholders_are_filled_in() -> None:
    """Customer, code and table; what nobody gave has a stand-in."""
    text = "Hi {customer}: {code} at {table}."
    assert rendered(text, SALE) == "Hi Bola: 7KQ4M2XB at T4."
    bare = SaleFacts(order_id=SALE.order_id, short_code="AB")
    assert rendered(text, bare) == "Hi there: AB at ."
    assert parameters("{code} for {customer}, {code} {table}", bare) == ["AB", "there", "AB", "-"]


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_customers_name_is_no_text_of_ours(name: str, label: str) -> None:
    """Braces in a name stay what they are: nothing is filled in twice."""
    sale = msgspec.structs.replace(SALE, customer_name=name, table_label=label)
    assert rendered("{customer}|{table}", sale) == f"{name or 'there'}|{label}"


def _message(text: str, stage: str = "ready") -> NewStageMessage:
    return NewStageMessage(stage=stage, is_sent=True, text=StageText(text))  # pyright: ignore[reportArgumentType]


def test_an_unknown_placeholder_is_named() -> None:
    """A typo would go out to customers; each wrong text and each second mention is told."""
    asked = StageMessages([_message("{Customer} hi"), _message("{code}"), _message("{}", "served")])
    found = list(message_errors(asked))
    assert [error.field for error in found] == [
        "messages[0].text",
        "messages[1].stage",
        "messages[2].text",
    ]
    assert isinstance(found[0], FieldError)
    assert "{Customer}" in found[0].message
    assert list(message_errors(StageMessages([_message("no braces } {")]))) == []
