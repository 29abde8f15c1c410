"""A server in this process that behaves like WhatsApp's Cloud API, well or badly."""

import asyncio
import json
from collections import Counter
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
        # Files that customers sent, how often each was fetched, and where others lie.
        self.files: dict[str, bytes] = {}
        self.fetched: Counter[str] = Counter()
        self.elsewhere: dict[str, str] = {}
        # Files that were uploaded: (name, type, bytes), by the id that they were given.
        self.uploads: dict[str, tuple[str, str, bytes]] = {}
        self.upload_status = 200
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._released = asyncio.Event()
        self.asked = asyncio.Event()

    async def start(self) -> "Meta":
        """Listen on a free port."""
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v23.0/{number}/messages", self._handle)
        app.router.add_post("/v23.0/{number}/media", self._take_file)
        app.router.add_get("/v23.0/{media}", self._locate)
        app.router.add_get("/files/{media}", self._give)
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

    async def _take_file(self, request: web.Request) -> web.StreamResponse:
        if self.upload_status >= 500:
            return web.Response(status=self.upload_status)
        if self.upload_status != 200:
            return web.json_response({"error": {"code": 100}}, status=self.upload_status)
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        form = await request.post()
        assert form["messaging_product"] == "whatsapp"
        file = form["file"]
        assert isinstance(file, web.FileField)
        assert form["type"] == file.content_type
        media_id = f"upload.{len(self.uploads)}"
        self.uploads[media_id] = (file.filename, file.content_type, file.file.read())
        return web.json_response({"id": media_id})

    async def _locate(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        media_id = request.match_info["media"]
        if media_id in self.elsewhere:
            return web.json_response({"url": self.elsewhere[media_id]})
        if media_id not in self.files:
            return web.json_response({"error": {"code": 100}}, status=404)
        url = self.url.removesuffix("/v23.0") + f"/files/{media_id}"
        return web.json_response({"url": url, "mime_type": "image/jpeg"})

    async def _give(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        media_id = request.match_info["media"]
        self.fetched[media_id] += 1
        return web.Response(body=self.files[media_id])

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
