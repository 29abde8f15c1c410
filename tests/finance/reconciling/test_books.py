"""Books that drifted from themselves: orders, links and the wallet."""

import pytest

from tests.finance.reconciling.drifting import Drifting


async def link_paid(drifting: Drifting) -> None:
    """A link of the wallet by which 250 came in."""
    body = {"title": "Hall deposit", "amount": 250}
    made = (await drifting.api.post("/v1/payment-links/wallet/dynamic", body, status=201)).data
    payer = drifting.till.business.anybody
    await payer.get(f"/pay/{made['reference']}")
    await payer.post(f"/pay/{made['reference']}/simulate", None, raw=b"case=exact", status=303)
    await drifting.work()


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("UPDATE orders SET amount_paid = amount_paid - 1 WHERE book_id = $1", "order_differs"),
        ("UPDATE payment_links SET amount_received = 249 WHERE book_id = $1", "link_differs"),
        ("UPDATE payment_links SET payments_count = 2 WHERE book_id = $1", "link_differs"),
        (
            "UPDATE ledger_balances SET credits = credits + 1 "
            "WHERE book_id = $1 AND kind = 'wallet'",
            "wallet_differs",
        ),
        (
            "UPDATE payments SET receipt_id = NULL WHERE book_id = $1 AND receipt_id IS NOT NULL",
            "payment_unbooked",
        ),
    ],
)
async def test_rows_that_disagree_are_told(drifting: Drifting, query: str, kind: str) -> None:
    """Each by its kind; nothing of it is mended by adding to the books."""
    await drifting.paid()
    await link_paid(drifting)
    assert await drifting.kinds() == []
    await drifting.execute(query)
    report = await drifting.look()
    assert kind in {one.kind for one in report.differences}
    assert {one.repair for one in report.differences} == {None}


async def test_links_whose_payments_went_back_agree(drifting: Drifting) -> None:
    """A link has received what came and stayed."""
    await link_paid(drifting)
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    assert await drifting.kinds() == ["payment_reversed"]
    assert (await drifting.mend()).differences == []
    assert await drifting.balance() == 0


async def test_a_wallet_that_could_not_give_all_back_agrees(drifting: Drifting) -> None:
    """The rest is a claim."""
    await drifting.paid()
    await drifting.withdraw("900")
    await drifting.work()
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    assert (await drifting.mend()).differences == []
    assert await drifting.balance() == 0
