"""The guides' examples, run as they stand there: one shell for each guide, block after block."""

import os
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.make import Business
from tests.system.client import Client, register
from tests.system.serving import Serving
from tests.waiting import HUNG_S
from tests.webhooks.shop import until

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)
# Read from the answer before, as a comment says: LINK=…   # data.id
TAKEN = re.compile(r"^([A-Z]+)=… +# ([\w.[\]]+).*$", re.MULTILINE)
SCOPE = re.compile(r"`([a-z_]+(?::[a-z_]+)+)`")
BEFORE = r"""
JSON="Content-Type: application/json"
LAST=$(mktemp); trap 'rm -f "$LAST"' EXIT
curl() { command curl --fail-with-body "$@" | tee "$LAST"; }
taken() {
  python3 -c 'import functools, json, re, sys
steps = [int(one) if one.isdecimal() else one for one in re.findall(r"\w+", sys.argv[1])]
print(functools.reduce(lambda found, step: found[step], steps, json.load(open(sys.argv[2]))))' \
    "$1" "$LAST"
}
"""
POLICY = {"max_per_transaction": 1000, "max_per_day": 1000, "currency": "NGN"}


@pytest.fixture(scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Serving]:
    """A server that does its jobs."""
    data = str(tmp_path_factory.mktemp("guides") / "data")
    serving = await Serving.up(DATA=data, LOG_LEVEL="warning")
    yield serving
    code = await serving.stop()
    log = serving.log
    serving.kill()
    assert code == 0, log


@pytest.fixture
async def business(serving: Serving, session: aiohttp.ClientSession) -> Business:
    """A business to which something has been sold and paid by a link."""
    anybody = Client(session, serving.address)
    made = await register(anybody, currency="NGN", country="NG", time_zone="Africa/Lagos")
    till = await made.client("orders:write", "payment_links:write", "wallet:read")
    line = {"product_name": "Hall", "line_type": "fee", "quantity": 1, "custom_price": 700}
    await till.post("/v1/orders", {"items": [line], "amount_paid": 700}, status=201)
    for amount in (250, 300):
        new = {"title": "Deposit", "amount": amount}
        link = (await till.post("/v1/payment-links/wallet/dynamic", new, status=201)).data
        async with session.get(link["url"]) as shown:
            assert shown.status == 200
        async with session.post(f"{link['url']}/simulate", data={"case": "exact"}) as pressed:
            assert pressed.status == 200

    async def is_full() -> bool | None:
        return (await till.get("/v1/wallet", status=200)).data["balance"] > 500 or None

    await until(is_full)
    return made


@pytest.mark.parametrize("guide", ["orders", "payments", "finance", "wallet", "inbox", "hotel"])
async def test_the_examples_of_a_guide_work(
    guide: str, serving: Serving, business: Business
) -> None:
    """Copied and pasted, with a key that has the scopes of its first paragraphs."""
    text = (DOCS / f"{guide}.md").read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    scopes = SCOPE.findall(text[: text.index("```bash")])
    policy = {"withdrawal_policy": POLICY} if "wallet:withdrawals:create" in scopes else {}
    key = await business.key(*scopes, **policy)
    script = BEFORE + TAKEN.sub(r"\1=$(taken '\2')", "".join(blocks))
    assert "…" not in script
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        env={**os.environ, "BASE": serving.address, "KEY": key["secret"]},
        capture_output=True,
        check=False,
        timeout=HUNG_S,
    )
    assert done.returncode == 0, (done.stdout.decode()[-2000:], done.stderr.decode())
