"""Sentences of operations, as pages say them."""

import pytest

from tillhouse.desk.frame.sentences import SENTENCES, for_people


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


def test_each_place_is_a_page_of_the_navigation() -> None:
    """People find it by the name that it has there."""
    named = {SENTENCES[name] for name in SENTENCES if name.startswith("nav.")}
    for name in SENTENCES:
        if name.startswith("place."):
            last = SENTENCES[name].rpartition("“")[2].rstrip("”")
            assert any(one.startswith(last) for one in named), name
