"""One payment from its page to its events, in a test book: `tillhouse trigger` lets it happen."""

from tillhouse.access.process import Services
from tillhouse.checkout.applying import apply_now
from tillhouse.checkout.attempts import Attempts
from tillhouse.checkout.page_rules import LinkPage
from tillhouse.checkout.store.pages import find_page
from tillhouse.kit.clock import now
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import BookId, BookKey


async def pay_simulated(services: Services, reference: str, case: str = "exact") -> None:
    """Pay a link, as if its page had been opened and the button of this case been pressed."""
    async with services.pool.reading() as db:
        link = LinkPage(**existing(await find_page(db, reference, now())))
    attempts = Attempts()
    await attempts.open(services, link)
    await attempts.simulate(services, link, case)
    await attempts.ask(services, link)
    await apply_now(services, BookKey(BookId(link.book_id), link.id))
