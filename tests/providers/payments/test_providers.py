"""The providers by their names, as an installation finds them."""

import pytest

from tillhouse.payins.sandbox.provider import Sandbox
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
    """So no refund needs a payout in its place: see decision 55 before adding one that doesn't."""
    every = [Sandbox.capabilities, *(provider(name).capabilities for name in VENDORS)]
    assert [one.has_refunds for one in every] == [True] * len(every)


def test_no_other_name_is_a_vendor() -> None:
    """The sandbox is the installation's own."""
    with pytest.raises(ValueError, match="sandbox"):
        provider("sandbox")
