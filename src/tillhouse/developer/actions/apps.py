"""Apps: the groups that keys and endpoints belong to."""

from datetime import datetime

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.access.store.businesses import lock_book
from tillhouse.db.pool import Db
from tillhouse.developer import rules
from tillhouse.developer.store import apps as store
from tillhouse.developer.types import App, NewApp
from tillhouse.kit.errors import existing
from tillhouse.kit.ids import AppId, BookId, BookKey, BusinessId, new_id
from tillhouse.webhooks.actions.secrets import open_secret

DEFAULT_NAME = "Default app"


async def open_default_apps(
    services: Services, db: Db, business_id: BusinessId, books: list[BookId], now: datetime
) -> None:
    """Give each new book the default app, which takes rows made without one, and its secret."""
    for book_id in books:
        app_id = AppId(new_id())
        await store.insert_app(db, book_id, app_id, DEFAULT_NAME, now, is_default=True)
        await open_secret(services, db, business_id, BookKey(book_id, app_id), now)


async def create(call: Call, new: NewApp) -> App:
    """Make an app."""
    book_id = call.user.books.of(new.environment)
    await lock_book(call.db, book_id)
    rules.check_app_limit(await store.count_apps(call.db, book_id))
    app_id = AppId(new_id())
    await store.insert_app(call.db, book_id, app_id, new.name, call.now, is_default=False)
    await open_secret(call.services, call.db, call.business_id, BookKey(book_id, app_id), call.now)
    what = ("developer_app.created", f"Created the app {new.name}")
    metadata = {"developerAppId": str(app_id), "environment": new.environment}
    await audit.note(call, what, metadata)
    return existing(await store.show_app(call.db, book_id, app_id))


async def list_all(call: Call) -> list[App]:
    """The apps of the business."""
    return await store.list_apps(call.db, call.user.books.all())
