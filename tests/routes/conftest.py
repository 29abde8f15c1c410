"""Somebody who may call every route, for requests that are refused before anything happens."""

import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.routes.table import every_scope
from tillhouse.app import App
from tillhouse.http.route import Open, Route, Scope


class Visitor:
    """A developer who has just given the password, and a key with every scope."""

    def __init__(self, business: Business, client: Api) -> None:
        self.business = business
        self.client = client

    def api(self, route: Route) -> Api:
        """A client that the route knows."""
        if isinstance(route.guard, Open):
            return self.business.anybody
        return self.client if isinstance(route.guard, Scope) else self.business.owner


@pytest.fixture(scope="module")
async def visitor(app: App) -> Visitor:
    """Shared by the tests of a file, because none of their requests changes anything."""
    business = await Make(app, app.house).business()
    return Visitor(business, await every_scope(business))
