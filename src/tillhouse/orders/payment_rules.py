"""Ways of paying that aren't open to every order."""

from tillhouse.orders.types import PaymentMethod


def reason_against(method: PaymentMethod | None, environment: str) -> str | None:
    """Why an order can't be paid like this, if so."""
    if method == "cloove_pay" and environment == "live":
        return "No payment provider is set up for live orders: use another payment_method."
    return None
