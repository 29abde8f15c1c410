"""One business that asks for all that it may, and more, until its standard input is closed."""

import asyncio
import itertools
import json
import os
import sys
from collections.abc import Awaitable, Callable

import aiohttp

STREAMS = 40
_REFUSED_WAIT_S = 0.05


class Abuser:
    """Many loops on one server, each sending as soon as it is answered."""

    def __init__(self, session: aiohttp.ClientSession, scene: dict[str, object]) -> None:
        self._session = session
        self._order = json.dumps(scene["order"])
        self._receipts = itertools.cycle([str(one) for one in scene["receipts"]])  # type: ignore[attr-defined]
        self._letters = itertools.cycle("aeiou")
        self._numbers = itertools.count()
        self.answers: dict[int, int] = {}

    async def run(self) -> None:
        """All loops at once."""
        kinds: list[tuple[int, Callable[[], Awaitable[int]]]] = [
            (12, self._search), (6, self._page), (8, self._file), (8, self._sale),
        ]  # fmt: skip
        loops = [self._loop(ask) for count, ask in kinds for _ in range(count)]
        await asyncio.gather(*loops, *(self._loop(self._listen) for _ in range(STREAMS)))

    async def _loop(self, ask: Callable[[], Awaitable[int]]) -> None:
        while True:
            try:
                status = await ask()
            except aiohttp.ClientError:
                status = 0
            self.answers[status] = self.answers.get(status, 0) + 1
            if status not in (200, 201):
                await asyncio.sleep(_REFUSED_WAIT_S)

    async def _get(self, path: str) -> int:
        async with self._session.get(path) as answer:
            await answer.read()
            return answer.status

    async def _search(self) -> int:
        return await self._get(f"/v1/orders?limit=100&search={next(self._letters)}")

    async def _page(self) -> int:
        return await self._get("/v1/orders?limit=100")

    async def _file(self) -> int:
        return await self._get(next(self._receipts))

    async def _sale(self) -> int:
        key = f"abuse-{os.getpid()}-{next(self._numbers)}"
        headers = {"idempotency-key": key, "content-type": "application/json"}
        async with self._session.post("/v1/orders", data=self._order, headers=headers) as answer:
            await answer.read()
            return answer.status

    async def _listen(self) -> int:
        headers = {"accept": "text/event-stream"}
        async with self._session.get("/v1/events/stream", headers=headers) as answer:
            await answer.read()
            return answer.status


async def main() -> None:
    """Abuse until nobody wants it any more, then tell what was answered."""
    scene = json.loads(sys.stdin.readline())
    headers = {"authorization": f"Bearer {scene['token']}"}
    connector = aiohttp.TCPConnector(limit=0)
    base = f"http://127.0.0.1:{scene['port']}"
    async with aiohttp.ClientSession(base, headers=headers, connector=connector) as session:
        abuser = Abuser(session, scene)
        running = asyncio.create_task(abuser.run())
        print("running", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        running.cancel()
        print(json.dumps(abuser.answers), flush=True)
        os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
