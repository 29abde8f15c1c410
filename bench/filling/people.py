"""The demo business's customers: by their number, so that anybody can say again who it is."""

import random
from functools import lru_cache
from uuid import UUID

from bench.filling import names, plan
from tillhouse.customers.rules import Contact
from tillhouse.kit.ids import CustomerId

# One customer for so many orders.
ORDERS_EACH = 20
# Ids rise with the number; the moment within them is of no meaning.
_EPOCH_MS = 1_672_531_200_000
_MINUTE_MS = 60_000
_HAS_ADDRESS = 0.6
_HAS_WHATSAPP = 0.5


def count(orders: int) -> int:
    """How many customers there are when there are so many orders."""
    return -(-orders // ORDERS_EACH)


@lru_cache(1 << 17)
def customer_id(book_id: UUID, number: int) -> CustomerId:
    """The customer of a phone number."""
    chance = random.Random(plan.seed(book_id, ~number)).getrandbits(74)  # noqa: S311 - no secret
    return CustomerId(plan.ordered_id(_EPOCH_MS + number * _MINUTE_MS, chance))


def contact(book_id: UUID, number: int) -> Contact:
    """Name and numbers of a customer; no two have the same."""
    chance = random.Random(plan.seed(book_id, ~number) + 1)  # noqa: S311 - no secret
    first, last = chance.choice(names.FIRST), chance.choice(names.LAST)
    address = f"{first}.{last}.{number}@customers.example".lower()
    phone = f"+234700{number:07}"
    return Contact(
        name=f"{first} {last}",
        email=address if chance.random() < _HAS_ADDRESS else None,
        phone_number=phone,
        whatsapp_number=phone if chance.random() < _HAS_WHATSAPP else None,
        notes=None,
    )
