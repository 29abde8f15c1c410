"""Payments that drifted are found by their kind, and mended by adding to the books, once."""

from decimal import Decimal

import pytest

from tests.finance.reconciling.drifting import Drifting
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id


async def test_books_that_agree_have_no_differences(drifting: Drifting) -> None:
    """Orders, a link of the wallet and a withdrawal: all that was told was recorded."""
    await drifting.paid()
    await drifting.paid(500)
    withdrawal = await drifting.withdraw("400")
    await drifting.work()
    report = await drifting.look()
    assert report.differences == []
    assert (report.books, report.payments, report.payouts) == (2, 2, 1)
    assert await drifting.withdrawal(withdrawal) == "completed"


async def test_a_payment_that_nobody_told_of_is_recorded_once(drifting: Drifting) -> None:
    """The hook was lost, and every job: the statement tells, and the order is paid."""
    order = await drifting.till.deposit(1000)
    await drifting.till.arrive(order)
    await drifting.forget_jobs()
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payment_unrecorded", "record")
    assert "1000" in one.what
    assert (await drifting.till.show(order))["amountPaid"] == 0
    report = await drifting.mend()
    assert (report.differences, [one.kind for one in report.repaired]) == (
        [],
        ["payment_unrecorded"],
    )
    assert (await drifting.till.show(order))["amountPaid"] == 1000
    assert await drifting.balance() == Decimal("985")


async def test_looking_changes_nothing(drifting: Drifting) -> None:
    """A plan is a look."""
    order = await drifting.till.deposit(1000)
    await drifting.till.arrive(order)
    await drifting.forget_jobs()
    before = await drifting.rows()
    assert await drifting.kinds() == ["payment_unrecorded"]
    assert await drifting.rows() == before


async def test_a_payment_that_nobody_applied_is_applied(drifting: Drifting) -> None:
    """Its job died: verify says so after an hour, and a repair does what the job would have."""
    order = await drifting.till.deposit(1000)
    await drifting.till.arrive(order)
    await drifting.till.record()
    await drifting.forget_jobs()
    assert await drifting.till.faults(drifting.services) == []
    await drifting.execute(
        "UPDATE payins SET created_at = created_at - interval '61 min' WHERE book_id = $1"
    )
    [fault] = await drifting.till.faults(drifting.services)
    assert fault.subject == "waiting payin"
    assert "not applied" in fault.what
    assert await drifting.kinds() == ["payment_unapplied"]
    report = await drifting.mend()
    assert report.differences == []
    assert (await drifting.till.show(order))["amountPaid"] == 1000
    assert await drifting.till.faults(drifting.services) == []


async def test_a_payment_that_went_back_unheard_goes_back(drifting: Drifting) -> None:
    """The provider took it back, and no hook came."""
    order = await drifting.paid()
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payment_reversed", "record")
    assert (await drifting.mend()).differences == []
    assert (await drifting.till.show(order))["status"] == "refunded"
    assert await drifting.balance() == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("amount = amount - 100", "1000 USD here, and 900 USD"),
        ("fee = fee + 5", "15 here, and 20 at the provider"),
        ("currency = 'NGN'", "1000 USD here, and 1000 NGN"),
    ],
)
async def test_a_payment_of_another_amount_is_told(
    drifting: Drifting, change: str, words: str
) -> None:
    """People look at it: nothing is changed by itself."""
    await drifting.paid()
    query = "UPDATE sandbox_payments SET {} WHERE book_id = $1"
    await drifting.execute(query.format(change))
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payment_differs", None)
    assert words in one.what.replace(".00", "")
    assert (await drifting.mend()).differences == [one]


async def test_a_payment_that_the_provider_does_not_know_is_told(drifting: Drifting) -> None:
    """It is recorded, and there never was such money."""
    await drifting.paid()
    await drifting.sql.execute(
        "DELETE FROM sandbox_payments WHERE book_id = $1", drifting.till.book
    )
    assert await drifting.kinds() == ["payment_unknown"]


async def test_payments_of_another_time_are_left_alone(drifting: Drifting) -> None:
    """A scope is a time, a business, a book and a provider."""
    await drifting.paid()
    await drifting.execute("UPDATE sandbox_payments SET fee = fee + 1 WHERE book_id = $1")
    past = {"since": now().replace(year=2019), "until": now().replace(year=2020)}
    for scope in ({"provider": "paystack"}, {"book": new_id()}, past):
        assert (await drifting.look(**scope)).differences == []
    assert (await drifting.look(provider="sandbox", book=drifting.till.book)).differences != []


async def test_an_amount_that_grew_at_the_provider_is_booked(drifting: Drifting) -> None:
    """The recorded payment stays, and the rest is a payment of its own."""
    order = await drifting.paid()
    await drifting.execute("UPDATE sandbox_payments SET amount = 1100 WHERE book_id = $1")
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("payment_differs", "record")
    assert (await drifting.mend()).differences == []
    assert (await drifting.till.show(order))["amountPaid"] == 1100


async def test_a_payment_that_came_back_to_the_provider_is_booked_again(
    drifting: Drifting,
) -> None:
    """A dispute was won after all: an hour later the answer can't be an old one."""
    await drifting.paid()
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    await drifting.mend()
    await drifting.execute("UPDATE sandbox_payments SET state = 'successful' WHERE book_id = $1")
    assert await drifting.kinds() == ["payment_restored"]
    report = await drifting.mend()
    assert [one.kind for one in report.differences] == ["payment_restored"]
    await drifting.execute(
        "UPDATE payins SET reversed_at = reversed_at - interval '61 min' WHERE book_id = $1"
    )
    assert (await drifting.mend()).differences == []
    assert await drifting.balance() == Decimal("985")
