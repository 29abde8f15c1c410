"""Reading the credit of a customer."""

from tillhouse.access.call import Call
from tillhouse.finance.credit import store
from tillhouse.finance.credit.store import CustomerCredit
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import CustomerId


async def show_credit(call: Call, customer_id: CustomerId) -> CustomerCredit:
    """The credit of one customer; 0 of one who never paid too much."""
    return existing(await store.show_credit(call.db, call.book.id, customer_id, call.now))
