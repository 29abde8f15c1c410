"""localstripe, a server of somebody else's, signs hooks: our check has to agree with it."""

import asyncio
import socket
from pathlib import Path

import aiohttp
from aiohttp import web
from tests.waiting import within

from tillhouse.providers.payments.provider import ProviderSecrets
from tillhouse.providers.payments.stripe import SIGNATURE, Stripe

_SECRET = "whsec_of-a-judge"  # noqa: S105 - of a server that lives for a moment
_KEY = "sk_test_of-a-judge"


async def judge_localstripe(folder: Path) -> None:
    """Let it take a payment, and check the signatures of what it tells."""
    heard: list[tuple[str, bytes]] = []
    is_told = asyncio.Event()

    async def take(request: web.Request) -> web.Response:
        heard.append((request.headers[SIGNATURE], await request.read()))
        is_told.set()
        return web.Response()

    app = web.Application()
    app.router.add_post("/", take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        "tools/bin/python", "-m", "localstripe", "--port", str(port), cwd=folder,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with within():
            await _pay(port, f"http://127.0.0.1:{runner.addresses[0][1]}/")
            await is_told.wait()
    finally:
        process.terminate()
        await process.wait()
        await runner.cleanup()
    _check(heard)
    print(f"localstripe: {len(heard)} signatures agree")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


async def _pay(port: int, hook_url: str) -> None:
    """Register the hook, once the server listens, and create what it tells of."""
    auth = aiohttp.BasicAuth(_KEY)
    root = f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession(auth=auth) as session:
        while True:
            try:
                async with session.get(f"{root}/v1/customers") as answer:
                    if answer.status == 200:
                        break
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
        hook = {"url": hook_url, "secret": _SECRET}
        async with session.post(f"{root}/_config/webhooks/judge", json=hook) as answer:
            answer.raise_for_status()
        async with session.post(f"{root}/v1/customers", data={"name": "Bola"}) as answer:
            answer.raise_for_status()


def _check(heard: list[tuple[str, bytes]]) -> None:
    adapter = Stripe()
    good = ProviderSecrets({"secret_key": _KEY, "webhook_secret": _SECRET}, is_live=False)
    other = ProviderSecrets({"secret_key": _KEY, "webhook_secret": "another"}, is_live=False)
    for signature, body in heard:
        headers = {SIGNATURE: signature}
        agrees = adapter.is_signed(good, headers, body)
        is_fooled = adapter.is_signed(other, headers, body)
        if not agrees or is_fooled or adapter.is_signed(good, headers, body + b" "):
            raise SystemExit(f"localstripe signs {signature!r} of {body[:80]!r}")
