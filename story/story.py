"""The tools of a chapter: requests by their operations, and ids by the names given to them."""

from collections.abc import Callable
from typing import Any

import asyncpg

from story.recorder import Recorder, Request
from story.servers import Installation

PASSWORD = "a long phrase is best"  # noqa: S105 - of a business that lives for a minute
NOBODY = "00000000-0000-7000-8000-000000000000"
"""An id that nothing has."""
# The parts of a request that its operation doesn't name.
_PARTS = {"query", "raw", "headers", "status"}


class Story:
    """A shop and what happens to it; ids are kept under the names that the chapters give them."""

    def __init__(
        self,
        recorder: Recorder,
        database_url: str,
        hooks_url: str,
        installation: Installation,
    ) -> None:
        self._recorder = recorder
        self._database_url = database_url
        self.hooks_url = hooks_url
        self.working = installation.working
        self.operator = installation.tells
        self.tokens: dict[str, str] = {}
        self.known: dict[str, Any] = {}

    def chapter(self, moment: str) -> None:
        """The next requests happen from this moment of the story on."""
        self._recorder.turn_to(moment)

    def sends(self, operation: str, body: Any = None, **parts: Any) -> Any:
        """Send a request and give the data of its answer; names of the path are looked up."""
        answer = self._recorder.exchange(self._request(operation, body, parts))
        return answer["data"] if isinstance(answer, dict) and "data" in answer else answer

    def pages(self, operation: str, **parts: Any) -> str:
        """Send a request for a page and give the cursor of the next."""
        answer = self._recorder.exchange(self._request(operation, None, parts))
        return answer["meta"]["nextCursor"]

    def after(self, moment: str, row: str) -> dict[str, str]:
        """The query of a page by change, after this row as it was at this moment."""
        cursor = f"{moment}.000Z_{row}_{moment}.000Z_2"
        return {"updated_since": f"{moment}Z", "cursor": cursor}

    def waits(self, operation: str, is_so: Callable[[Any], bool], **parts: Any) -> None:
        """Ask until the data is as wanted; this is not recorded."""
        request = self._request(operation, None, parts)
        self._recorder.wait(request, lambda answer: is_so(answer["data"]))

    async def happens(self, sql: str, *values: Any) -> None:
        """Something that no route does, such as what a payment provider would report."""
        connection = await asyncpg.connect(self._database_url)
        await connection.execute(sql, *values)
        await connection.close()
        self._recorder.note_happening()

    def _request(self, operation: str, body: Any, parts: dict[str, Any]) -> Request:
        by = parts.pop("by", "till" if " /v1/" in operation else "owner")
        own = {name: parts.pop(name) for name in _PARTS & parts.keys()}
        path = operation.split()[1]
        names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        filled = {name: parts.pop(name, None) or self.known[name] for name in names}
        if parts:
            raise TypeError(f"{operation} has no {', '.join(parts)}")
        token = self.tokens.get(by, "")
        return Request(operation=operation, names=filled, by=by, token=token, body=body, **own)
