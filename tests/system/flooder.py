"""Strangers of many networks who send hooks and open payment pages without a pause.

`python -m tests.system.flooder` reads a `Scene` as a line of JSON, writes a line once it runs, and
the counts of its answers, by kind and status, when its standard input ends.
"""

import asyncio
import itertools
import os
import re
import sys
from collections import Counter
from contextlib import suppress

import msgspec

from tillhouse.payins.routes import BODY_BYTES_MAX

# Each comes from a network of its own.
NETWORKS = 16
# As many as a hook of a payment provider may have.
HOOK_BYTES = BODY_BYTES_MAX
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


class Scene(msgspec.Struct):
    """The server that is flooded, and what there is on it."""

    port: int
    # A book that has a provider, and a reference of a payment link.
    book_id: str
    reference: str


def requests(scene: Scene) -> dict[str, bytes]:
    """One request of each kind."""
    book, link = scene.book_id, f"/pay/{scene.reference}"
    nobody = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"
    signed = f"x-sandbox-signature: {'0' * 64}"
    form = "content-type: application/x-www-form-urlencoded"
    meta = f"x-hub-signature-256: sha256={'0' * 64}"
    return {
        "forged": _post(f"/hooks/sandbox/{book}", signed, b"{}"),
        "forged, large": _post(f"/hooks/sandbox/{book}", signed, b" " * HOOK_BYTES),
        "unsigned, large": _post(f"/hooks/sandbox/{book}", "x: y", b" " * HOOK_BYTES),
        "unknown book": _post(f"/hooks/sandbox/{nobody}", signed, b"{}"),
        "unknown book, large": _post(f"/hooks/sandbox/{nobody}", signed, b" " * HOOK_BYTES),
        "unknown number, large": _post(f"/hooks/whatsapp/{nobody}", meta, b" " * HOOK_BYTES),
        "page": _get(link),
        "unknown page": _get("/pay/pl_nobody"),
        "image": _get(f"{link}/qr.svg"),
        "question": _post(f"{link}/check", form, b""),
    }


def _get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode()


def _post(path: str, header: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\n{header}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Flooder:
    """One connection of each kind from each network, each asking again once it is answered."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.answers: Counter[str] = Counter()

    async def run(self) -> None:
        """All of them, until cancelled."""
        kinds = requests(self._scene).items()
        pairs = itertools.product(kinds, range(1, NETWORKS + 1))
        await asyncio.gather(*(self._ask_again(*kind, network) for kind, network in pairs))

    async def _ask_again(self, kind: str, request: bytes, network: int) -> None:
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._ask_on_one_connection(kind, request, f"127.0.{network}.1")

    async def _ask_on_one_connection(self, kind: str, request: bytes, address: str) -> None:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._scene.port, local_addr=(address, 0), limit=HOOK_BYTES
        )
        try:
            is_open = True
            while is_open:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                self.answers[f"{kind}: {head[9:12].decode()}"] += 1
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
                is_open = b"connection: close" not in head.lower()
        finally:
            writer.transport.abort()


async def main() -> None:
    """Flood until the standard input ends."""
    flooder = Flooder(msgspec.json.decode(sys.stdin.readline(), type=Scene))
    running = asyncio.create_task(flooder.run())
    sys.stdout.write("running\n")
    sys.stdout.flush()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    running.cancel()
    sys.stdout.write(msgspec.json.encode(flooder.answers).decode() + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
