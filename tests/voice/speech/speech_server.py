"""A server of speech in this process: it speaks OpenAI's API of sound, well or badly."""

import asyncio
import json
from typing import Any

from aiohttp import web


class SpeechServer:
    """Says a sound for every text, and hears the same words in every sound."""

    def __init__(self) -> None:
        self.sound = b""
        self.words = '{"text": " Yes,  please. "}'
        self.status = 200
        self.refused: set[str] = set()
        self.hangs = False
        self.spoken: list[dict[str, Any]] = []
        self.heard: list[dict[str, Any]] = []
        self.url = ""
        self._released = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def start(self) -> "SpeechServer":
        """Listen on a free port."""
        app = web.Application(client_max_size=10_000_000)
        app.router.add_post("/v1/audio/speech", self._speak)
        app.router.add_post("/v1/audio/transcriptions", self._hear)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def stop(self) -> None:
        """Hang up."""
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _speak(self, request: web.Request) -> web.Response:
        key = request.headers.get("authorization")
        asked = {"key": key, **json.loads(await request.read())}
        self.spoken.append(asked)
        return web.Response(status=self._status(asked), body=self.sound, content_type="audio/wav")

    async def _hear(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        self.heard.append({**fields, "name": file.filename, "sound": file.file.read()})
        if self.hangs:
            await self._released.wait()
        status = self._status(fields)
        return web.Response(status=status, text=self.words, content_type="application/json")

    def _status(self, asked: dict[str, Any]) -> int:
        return 400 if asked.get("language") in self.refused else self.status
