"""Judges the hosted checkout in Chromium, on a demo of its own."""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import asyncpg

from tests.browser.chromium import judge
from tests.waiting import HUNG_S
from tillhouse.db.embedded import Embedded


def main() -> int:
    """Serve a demo, and let the browser pay in it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.checkout")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of each state")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tillhouse-checkout-") as folder:
        words = ["serve", "--demo", "--json", "--port", "0", "--data", folder]
        server = subprocess.Popen(
            [sys.executable, "-m", "tillhouse", *words], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            told = next(json.loads(line) for line in server.stdout if line.startswith("{"))
            key = told["demo"]["testKey"]
            expired = _expired(told["address"], key, Path(folder))
            return judge("checkout.mjs", asked.shots, BASE=told["address"], KEY=key,
                         EXPIRED=expired)  # fmt: skip
        finally:
            server.terminate()
            server.wait(HUNG_S)


def _expired(address: str, key: str, data: Path) -> str:
    """The reference of a link whose day is over."""
    request = urllib.request.Request(  # noqa: S310 - the demo's own address
        f"{address}/v1/payment-links/wallet/dynamic",
        json.dumps({"title": "Deposit for the hall", "amount": 16460.5}).encode(),
        {"authorization": f"Bearer {key}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        reference: str = json.load(answer)["data"]["reference"]
    asyncio.run(_let_expire(data, reference))
    return reference


async def _let_expire(data: Path, reference: str) -> None:
    server = Embedded.start(data)
    sql = await asyncpg.connect(server.url)
    await sql.execute(
        "UPDATE payment_links SET expires_at = now() - interval '1 s' WHERE reference = $1",
        reference,
    )
    await sql.close()
    server.release()


if __name__ == "__main__":
    sys.exit(main())
