"""Which statements a request sends: the application in this process, overheard."""

from typing import Any

import msgspec
from tests.api import Api, Response

from tillhouse.app import App
from tillhouse.db.pool import Db
from tillhouse.settings import from_env


class Statement(msgspec.Struct, frozen=True):
    """A statement as it was sent: by which method, its text, its arguments."""

    method: str
    sql: str
    args: tuple[Any, ...]


class _Overheard(Db):
    """Sends statements on, and notes them."""

    __slots__ = ("_notes",)

    def __init__(self, pool: Any, notes: list[Statement], *, write: bool, **how: bool) -> None:
        super().__init__(pool, write=write, **how)
        self._notes = notes

    async def fetch(self, sql: Any, *args: object) -> Any:
        self._notes.append(Statement("fetch", sql, args))
        return await super().fetch(sql, *args)

    async def fetchrow(self, sql: Any, *args: object) -> Any:
        self._notes.append(Statement("fetchrow", sql, args))
        return await super().fetchrow(sql, *args)

    async def fetchval(self, sql: Any, *args: object) -> Any:
        self._notes.append(Statement("fetchval", sql, args))
        return await super().fetchval(sql, *args)

    async def read_before(self, sql: Any, *args: object) -> Any:
        self._notes.append(Statement("read_before", sql, args))
        return await super().read_before(sql, *args)

    async def write_once(self, sql: Any, *args: object) -> Any:
        self._notes.append(Statement("write_once", sql, args))
        return await super().write_once(sql, *args)

    async def execute(self, sql: Any, *args: object) -> str:
        self._notes.append(Statement("execute", sql, args))
        return await super().execute(sql, *args)


class Recorder:
    """An application whose requests are overheard; the key check is noted apart."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._settings = from_env(
            {k: v for k, v in environment.items() if k.startswith("TILLHOUSE_")}
        )
        self._notes: list[Statement] = []

    async def start(self) -> App:
        """Open the application."""
        settings = self._settings
        assert settings.database_url
        assert settings.master_key
        self.app = App(settings, settings.database_url, settings.master_key)
        services = await self.app.start()
        pool, notes = services.pool, self._notes
        vars(pool)["writer"] = lambda **how: _Overheard(pool, notes, write=True, **how)
        vars(pool)["reader"] = lambda: _Overheard(pool, notes, write=False)
        return self.app

    async def request(
        self, token: str, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[Response, list[Statement]]:
        """One request, and what it sent besides the check of its key."""
        self._notes.clear()
        api = Api(self.app).as_bearer(token)
        answer = await api.request(method, path, body, headers=headers)
        return answer, [one for one in self._notes if "FROM unnest($1::bytea[]" not in one.sql]
