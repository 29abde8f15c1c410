"""The providers by their names, as an installation finds them."""

import re

import pytest

from tests.tidy.tree import ROOT
from tillhouse.payins.sandbox.provider import SandboxPayments
from tillhouse.providers.payments.limits import SMALLEST
from tillhouse.providers.payments.providers import VENDORS, provider


@pytest.mark.parametrize("name", VENDORS)
def test_each_vendor_has_its_adapter(name: str) -> None:
    """One for each address, kept as long as the process."""
    adapter = provider(name)
    assert adapter.name == name
    assert adapter.capabilities.opens in ("account", "page")
    assert provider(name) is adapter
    assert provider(name, "http://127.0.0.1:9") is not adapter
    assert len(set(adapter.secret_names)) == len(adapter.secret_names) > 0


def test_every_provider_gives_payments_back() -> None:
    """A provider without refunds would leave each to a withdrawal: read decision 55 first."""
    every = [SandboxPayments.capabilities, *(provider(name).capabilities for name in VENDORS)]
    assert [one.has_refunds for one in every] == [True] * len(every)


def test_no_other_name_is_a_vendor() -> None:
    """The sandbox is the installation's own."""
    with pytest.raises(ValueError, match="sandbox"):
        provider("sandbox")


def test_the_paper_names_each_currency_with_a_smallest_amount() -> None:
    """Of every other one a provider's smallest amount isn't known."""
    paper = (ROOT / "docs" / "providers.md").read_text("utf-8")
    [told] = re.findall(r"Stripe's smallest amounts in ([A-Z, and]+), and Paystack's in", paper)
    assert set(re.findall(r"[A-Z]{3}", told)) == SMALLEST["stripe"].keys()
    assert SMALLEST["paystack"].keys() == {"NGN"}
