"""The statements of a server to which nobody comes."""

import time
from pathlib import Path

from tests.system.killing_proxy import Proxy
from tests.system.serving import Serving, report, until

PER_SECOND_MAX = 5.0
# Twice as long as the longest rest, so that every worker has its rounds in it.
ROUNDS_S = 10.0


async def test_an_idle_server_asks_little(
    fresh_database_url: str, master_key: str, tmp_path: Path
) -> None:
    """The server and the process that sends, together; and yet they look."""
    async with Proxy(tmp_path, fresh_database_url) as proxy:
        serving = await Serving.up(DATABASE_URL=proxy.url, MASTER_KEY=master_key)
        try:
            await until(lambda: "sender_started" in serving.log, "a process that sends")
            before, began_s = proxy.statements, time.monotonic()
            await until(lambda: time.monotonic() - began_s > ROUNDS_S, "their rounds")
            sent, seconds = proxy.statements - before, time.monotonic() - began_s
            report(f"{sent / seconds:.1f} statements a second at idle")
            assert 0 < sent <= PER_SECOND_MAX * seconds
        finally:
            await serving.stop()
            serving.kill()
