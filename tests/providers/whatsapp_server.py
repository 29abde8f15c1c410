"""A server in this process that behaves like WhatsApp's Cloud API, well or badly."""

import asyncio
import json
from typing import Any

from aiohttp import web

TOKEN = "EAAJB-token"
NUMBER_ID = "106540352242922"

Json = dict[str, Any]


class Meta:
    """Takes messages, and answers as it is told."""

    def __init__(self) -> None:
        self.taken: list[Json] = []
        self.paths: list[str] = []
        # Its next behaviour: accept, refuse (status, error), or misbehave.
        self.mood = "accepts"
        self.refusal: tuple[int, Json] = (400, {})
        self.raw: tuple[int, bytes] = (200, b"")
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._released = asyncio.Event()
        self.asked = asyncio.Event()

    async def start(self) -> "Meta":
        """Listen on a free port."""
        app = web.Application()
        app.router.add_post("/v23.0/{number}/messages", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v23.0"
        return self

    async def stop(self) -> None:
        """Hang up."""
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def refuse(self, code: int, message: str, status: int = 400) -> None:
        """Refuse what comes from now on, as the Graph API does."""
        error = {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A1"}
        self.mood, self.refusal = "refuses", (status, {"error": error})

    def answer(self, status: int, body: bytes) -> None:
        """Answer this, whatever comes."""
        self.mood, self.raw = "babbles", (status, body)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            error = {"message": "Invalid OAuth access token", "code": 190}
            return web.json_response({"error": error}, status=401)
        body: Json = json.loads(await request.read())
        self.taken.append(body)
        self.asked.set()
        match self.mood:
            case "refuses":
                return web.json_response(self.refusal[1], status=self.refusal[0])
            case "babbles":
                return web.Response(status=self.raw[0], body=self.raw[1])
            case "hangs":
                await self._released.wait()
            case "resets":
                assert request.transport is not None
                request.transport.abort()
            case _:
                pass
        to = body.get("to") or body.get("recipient")
        return web.json_response(
            {
                "messaging_product": "whatsapp",
                "contacts": [{"input": to, "wa_id": str(to).lstrip("+")}],
                "messages": [{"id": f"wamid.{body['biz_opaque_callback_data']}"}],
            }
        )
