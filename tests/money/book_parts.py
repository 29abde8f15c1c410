"""The parts of a book in whole minor units: payments, links, withdrawals, refunds by provider."""

import msgspec


def fee_of(amount: int) -> int:
    """The part of a payment that the sandbox keeps: 1.5 %, rounded half up."""
    return (amount * 15 + 500) // 1000


class Paid(msgspec.Struct, kw_only=True):
    """A payment as the provider knows it, and how far the book has got with it."""

    amount: int
    fee: int
    # The order or link that its account was for; None: nothing of ours.
    target: str | None
    is_foreign: bool = False
    # successful, failed or reversed, at the provider.
    state: str = "successful"
    is_recorded: bool = False
    is_applied: bool = False
    is_reversed: bool = False
    # The amount that the provider took back by itself, and the part that its target gave back.
    returned: int = 0
    given: int = 0
    # Of what went back: what the order no longer had, and what the wallet.
    shortfall: int = 0
    claim: int = 0
    # Whether it topped the wallet up; else the order that took it.
    is_deposit: bool = False
    order: str | None = None

    @property
    def net(self) -> int:
        """The part that reaches the wallet."""
        return self.amount - self.fee

    @property
    def fee_left(self) -> int:
        """The fee, unless it came back: the sandbox takes none of what is undone."""
        return 0 if self.is_reversed else self.fee

    @property
    def left(self) -> int:
        """The part that the provider did not take back by itself."""
        return self.amount - self.returned

    @property
    def funds_wallet(self) -> bool:
        """Whether it was for something known, in the currency of the book."""
        return self.target is not None and not self.is_foreign


class Link(msgspec.Struct, kw_only=True):
    """A payment link."""

    kind: str
    # The id of its order; None: the wallet's.
    order: str | None
    # The amount that a link of the wallet asks for.
    amount: int
    status: str = "active"
    is_expired: bool = False
    received: int = 0
    payments: int = 0

    @property
    def shown(self) -> str:
        """The status as it reads."""
        return "EXPIRED" if self.is_expired and self.status == "active" else self.status


class Withdrawal(msgspec.Struct, kw_only=True):
    """Money that is to leave the wallet."""

    amount: int
    status: str = "requested"
    # The provider took so much for it; of fee and amount the wallet has yet to give so much.
    fee: int = 0
    fee_due: int = 0
    amount_due: int = 0
    # Whether it pays a refund of an order out.
    is_refund: bool = False


class Return(msgspec.Struct, kw_only=True):
    """A refund that goes back through the provider, or that a withdrawal pays out."""

    order: str
    # The provider's id of the payment that it gives back.
    payment: str
    amount: int
    status: str = "pending"
    # The withdrawal that pays it out.
    withdrawal: str | None = None
    # Held of the customer's credit while it is on its way.
    held_credit: int = 0
    # Of what went back: what the order no longer had, what of it was sold, what the wallet lacked.
    shortfall: int = 0
    of_sale: int = 0
    claim: int = 0
    # Of its shortfall, what the provider had taken back by itself before.
    taken_before: int = 0

    @property
    def given(self) -> int:
        """The part that it gave of its payment."""
        return self.amount - self.taken_before
