"""Disputes of payments for stays: the folio keeps what was paid."""

import pytest

from tests.folios.lodge import Lodge

FEE = 15


@pytest.mark.parametrize("is_won", [True, False])
@pytest.mark.parametrize("is_deposit", [True, False], ids=["deposit", "folio"])
async def test_a_dispute_of_a_stays_payment(lodge: Lodge, is_deposit: bool, is_won: bool) -> None:
    """The folio keeps its payment, whatever becomes of the dispute."""
    if is_deposit:
        stay = await lodge.book(deposit_amount=100)
    else:
        stay = await lodge.arrive()
        await lodge.charge(stay, 100)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    before = await lodge.folio(stay)
    reader = await lodge.business.client("wallet:read", "finance:read")
    came = (await reader.get("/v1/wallet", status=200)).data["balance"]
    await lodge.pay_link(link, "disputed")
    await lodge.pay_link(link, "dispute_won" if is_won else "dispute_lost")
    [one] = (await reader.get("/v1/disputes", status=200)).data
    taken = 0 if is_won else 100
    assert (one["status"], one["takenAmount"]) == ("won" if is_won else "lost", taken)
    assert (one["fee"], one["paymentLinkId"]) == (FEE, link["id"])
    # The wallet had less: the rest is a claim.
    assert came - (await reader.get("/v1/wallet", status=200)).data["balance"] == min(
        FEE + taken, came
    )
    after = await lodge.folio(stay)
    for name in ("payments", "amountOwed", "unspentAmount", "paymentsTotal"):
        assert after[name] == before[name], name
    assert await lodge.differences() == []
