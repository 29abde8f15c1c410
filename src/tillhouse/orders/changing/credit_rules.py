"""The credit of customers that a change of an order spends: pure decisions."""

from decimal import Decimal

from tillhouse.kit.errors import Refused
from tillhouse.orders.changing.rules import OrderState


def check_credit(before: OrderState, after: OrderState) -> None:
    """Refuse to spend credit that isn't there, or to give an order paid with it to another.

    Credit beyond the debt would come back as credit at once: spent, and yet still there.
    """
    is_another = before.customer_id != after.customer_id
    if is_another and before.credit_amount:
        raise Refused("The order was paid with its customer's credit: the customer stays.")
    spent = after.amount_paid - before.amount_paid
    if spent <= 0 or after.payment_method != "credit":
        return
    if after.customer_id is None:
        raise Refused("Only a customer's credit can be spent: give the order a customer first.")
    owed = max(after.position().due - before.amount_paid, Decimal(0))
    if spent > owed:
        raise Refused(
            f"The order owes {owed:f}, and credit pays for that and no more: lower the amount."
        )


def not_covered(available: Decimal, wanted: Decimal) -> str:
    """Why credit doesn't pay an amount, and the remedy."""
    return (
        f"The customer's credit doesn't cover this: it is {max(available, Decimal(0)):f}, and "
        f"{wanted:f} are to be paid by it. Lower the amount, or record what they pay another way."
    )
