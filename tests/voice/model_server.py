"""A server of language models in this process: it speaks Chat Completions, well or badly."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

Answer = Callable[[dict[str, Any], web.Request], Awaitable[web.StreamResponse]]


def message(text: str | None = None, *tools: tuple[str, str]) -> dict[str, Any]:
    """A message of a model's: words, and tools with their arguments."""
    found: dict[str, Any] = {"role": "assistant", "content": text}
    if tools:
        found["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(tools)
        ]
    return found


def completion(found: dict[str, Any], model: str = "test") -> dict[str, Any]:
    """A message as a whole answer."""
    reason = "tool_calls" if "tool_calls" in found else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{"index": 0, "message": found, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def clerk(asked: dict[str, Any]) -> dict[str, Any]:
    """The next message of a model that does as it is told: finds, confirms or cancels."""
    last = asked["messages"][-1]
    is_of_hotel = any(
        tool["function"]["name"] == "find_reservation" for tool in asked.get("tools", ())
    )
    if last["role"] == "tool":
        result = json.loads(last["content"])
        if result["result"].startswith("find_reservation") and result["done"]:
            return message(f"You have a {result['room']} from {result['arrival']}. Will you come?")
        if "summary" in result:
            return message(f"You ordered {result['summary']}. Is that right?")
        words = "It is confirmed. Goodbye." if result["done"] else "I could not do that. Goodbye."
        return message(words, ("end_call", "{}"))
    thing = "reservation" if is_of_hotel else "order"
    if last["content"] == "yes":
        return message(None, (f"confirm_{thing}", "{}"))
    if last["content"] == "no" and is_of_hotel:
        return message(None, ("cancel_reservation", "{}"))
    return message(None, (f"find_{thing}", "{}"))


class ModelServer:
    """Keeps what it is asked, and answers as it is told; without that, as a clerk."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answer: Answer | None = None
        self.messages: list[dict[str, Any]] = []
        self.url = ""
        self.hung = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def start(self, context: ssl.SSLContext | None = None) -> "ModelServer":
        """Listen on a free port."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context).start()
        port = self._runner.addresses[0][1]
        self.url = f"{'http' if context is None else 'https'}://127.0.0.1:{port}/v1"
        return self

    async def stop(self) -> None:
        """Hang up."""
        self.hung.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        assert (request.method, request.path) == ("POST", "/v1/chat/completions")
        self.asked.append(asked)
        self.keys.append(request.headers.get("authorization"))
        if self.answer is not None:
            return await self.answer(asked, request)
        found = self.messages.pop(0) if self.messages else clerk(asked)
        return web.json_response(completion(found, asked["model"]))
