"""Sentences of operations, as pages say them."""

import importlib
import pkgutil

import phonenumbers
import pytest

from tillhouse import desk
from tillhouse.desk.frame.sentences import COUNTRIES, CURRENCIES, SENTENCES, for_people
from tillhouse.desk.operations import Operation
from tillhouse.http.route import Portal, Session
from tillhouse.kit.money import EXPONENTS
from tillhouse.kit.values import CountryCode


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("See GET /v1/disputes.", "See “Disputes” of “Finance”."),
        (
            "Pay it out by POST /v1/wallet/withdrawals, or wait.",
            "Pay it out by “Wallet”, or wait.",
        ),
        ("see GET /v1/customers/{customer_id}/credit: 5", "see “Customers”: 5"),
        ("Ask GET /v1/nowhere.", "Ask GET /v1/nowhere."),
        ("Nothing was done.", "Nothing was done."),
    ],
)
def test_a_sentence_names_the_page_instead_of_the_operation(said: str, shown: str) -> None:
    """Programs are sent to operations, people to pages."""
    assert for_people(said) == shown


# Operations whose rules ask for the password in some cases.
ASKING = {
    "PATCH /api/developer/api-keys/{key_id}", "POST /v1/payout-accounts",
    "DELETE /v1/payout-accounts/{payout_account_id}", "POST /v1/wallet/withdrawals",
    "PUT /v1/wallet/payouts", "PUT /v1/payment-providers",
}  # fmt: skip


def test_the_password_is_asked_for_by_name() -> None:
    """Each operation of the desk that wants it first has its words; no other has any."""
    wanted = set(ASKING)
    for module in pkgutil.walk_packages(desk.__path__, "tillhouse.desk."):
        for value in vars(importlib.import_module(module.name)).values():
            guard = value.route.guard if isinstance(value, Operation) else None
            if isinstance(guard, Session | Portal) and guard.step_up:
                wanted.add(f"{value.route.method} {value.route.path}")
    start = "step_up_for."
    assert {name.removeprefix(start) for name in SENTENCES if name.startswith(start)} == wanted


def test_every_country_by_which_numbers_are_read_has_a_name() -> None:
    """And none else has: a code that the API refused could not be chosen."""
    codes = [code for code, _ in COUNTRIES]
    assert sorted(codes) == sorted(phonenumbers.SUPPORTED_REGIONS)
    assert [CountryCode.check(code) for code in codes] == codes
    assert len({name for _, name in COUNTRIES}) == len(codes)


# The API takes them, too, but no till counts money in them: funds, indexes and such units.
UNITS_OF_ACCOUNT = {"BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN", "UYI", "UYW"}


def test_every_currency_has_a_name() -> None:
    """All that the API takes but units of account."""
    assert {code for code, _ in CURRENCIES} == EXPONENTS.keys() - UNITS_OF_ACCOUNT
    assert len({name for _, name in CURRENCIES}) == len(CURRENCIES)


def test_each_place_is_a_page_of_the_navigation() -> None:
    """People find it by the name that it has there."""
    named = {SENTENCES[name] for name in SENTENCES if name.startswith("nav.")}
    for name in SENTENCES:
        if name.startswith("place."):
            last = SENTENCES[name].rpartition("“")[2].rstrip("”")
            assert any(one.startswith(last) for one in named), name
