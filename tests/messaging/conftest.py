"""An application whose WhatsApp is a server in this process."""

from collections.abc import AsyncIterator

import pytest

from tests.conftest import settings_with
from tests.make import Make
from tests.messaging.whatsapp_business import Line
from tests.providers.whatsapp_server import Meta
from tillhouse.app import App


@pytest.fixture(scope="session")
async def whatsapp() -> AsyncIterator[Meta]:
    """The server, for all tests of a run."""
    meta = await Meta().start()
    yield meta
    await meta.stop()


@pytest.fixture(scope="session")
async def writing_app(database_url: str, master_key: str, whatsapp: Meta) -> AsyncIterator[App]:
    """An application that sends to it."""
    app = App(settings_with(WHATSAPP_URL=whatsapp.url), database_url, master_key)
    await app.start()
    yield app
    await app.stop()


@pytest.fixture
async def line(writing_app: App, whatsapp: Meta) -> Line:
    """A business that has connected its number, in its live book."""
    whatsapp.mood, whatsapp.upload_status = "accepts", 200
    business = await Make(writing_app, writing_app.services).business()
    return await Line.open(writing_app.services, business, whatsapp)
