"""One order of the model, with what of its money is change, kept, or credit that was spent."""

from collections import defaultdict
from decimal import Decimal

import msgspec

from tests.orders.basket_model import ZERO

Place = tuple[str, bool]


class Order(msgspec.Struct, kw_only=True):
    """An order as it must be."""

    subtotal: Decimal
    total: Decimal
    paid: Decimal
    method: str
    customer: str | None
    status: str
    takes: dict[Place, Decimal]
    is_import: bool
    promotion: str | None
    promoted: str | None
    scheduled: str | None
    wants_kitchen: bool
    discount: Decimal
    units: list[tuple[Decimal, Decimal]]
    session: int | None = None
    stage: str | None = None
    holds: str = "none"
    term: bool = False
    fulfilled: bool = False
    # The credit of the customer that it was paid with.
    spent: Decimal = ZERO
    # By method, what came in, less what was taken back.
    came: defaultdict[str, Decimal] = msgspec.field(default_factory=lambda: defaultdict(Decimal))
    restocked: bool | None = None
    is_deleted: bool = False

    @property
    def remaining(self) -> Decimal:
        """The amount still due."""
        return max(self.total - self.paid, ZERO)

    @property
    def change(self) -> Decimal:
        """The change that was handed out."""
        is_given = self.method == "cash" and (self.is_deleted or self.status != "scheduled")
        return max(self.paid - self.total, ZERO) if is_given else ZERO

    @property
    def kept(self) -> Decimal:
        """The excess that is kept for the payer."""
        if self.is_deleted or self.status == "cancelled":
            return self.paid - self.change
        if self.status == "scheduled" or self.method == "cash":
            return ZERO
        return max(self.paid - self.total, ZERO)

    @property
    def is_over(self) -> bool:
        """Whether it is cancelled or deleted."""
        return self.is_deleted or self.status == "cancelled"
