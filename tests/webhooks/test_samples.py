"""docs/webhooks.md tells the truth: its samples verify, its events are those of the catalogue."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.tidy.tree import ROOT
from tests.waiting import HUNG_S
from tillhouse.app import PRODUCT
from tillhouse.kit.events import EventType
from tillhouse.kit.secrets import new_webhook_secret
from tillhouse.webhooks.events import TEST_EVENT
from tillhouse.webhooks.signing import service_signature

PAPER = (ROOT / "docs/webhooks.md").read_text("utf-8")
EVENTS = [TEST_EVENT, *PRODUCT.declared.events]

# The Node block, asked about each case of a file; it answers a list of true and false.
_ASK_NODE = """
const cases = JSON.parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
const said = cases.map(([body, header, secret]) => isSigned(Buffer.from(body), header, secret));
console.log(JSON.stringify(said));
"""


class Case(NamedTuple):
    """A delivery as it came in, and the secret that the receiver has."""

    body: str
    header: str
    secret: str


def sample(language: str) -> str:
    """The block of the document in this language."""
    [found] = re.findall(rf"<!-- sample: {language} -->\n```\w+\n(.*?)```", PAPER, re.DOTALL)
    return found


def cases(within_s: int) -> tuple[list[Case], list[bool]]:
    """Deliveries, and whether each is to be believed by whoever looks at them within this time."""
    secret, at = new_webhook_secret(), int(time.time())
    body = '{"name": "Jollof ríce", "total": 12}'

    def header(at: int, secret: str = secret) -> str:
        return f"t={at},v1={service_signature(secret, body.encode(), at)}"

    good = header(at)
    bare = secret.removeprefix("whsec_")
    told = [
        (Case(body, good, secret), True),
        (Case(body, header(at - 300 + within_s), secret), True),
        (Case(body, header(at - 301), secret), False),
        (Case(body, header(at + 301 + within_s), secret), False),
        (Case(body + " ", good, secret), False),
        (Case(body.replace(" ", ""), good, secret), False),
        (Case(body, good.replace(f"t={at}", f"t={at + 1}"), secret), False),
        (Case(body, good, bare), False),
        (Case(body, header(at, bare), secret), False),
        (Case(body, good, new_webhook_secret()), False),
        (Case(body, good[:-1], secret), False),
        (Case(body, f"t={at},v1=ø", secret), False),
        (Case(body, "v1=", secret), False),
        (Case(body, "", secret), False),
    ]
    return [case for case, _ in told], [is_good for _, is_good in told]


def test_the_python_sample_believes_what_we_sign_and_nothing_else() -> None:
    """The block runs as it stands: tampered, old, future and foreign deliveries are refused."""
    given, expected = cases(5)
    names: dict[str, Any] = {}
    exec(sample("python"), names)  # noqa: S102 - it is our own document
    is_signed = names["is_signed"]
    assert [is_signed(c.body.encode(), c.header, c.secret) for c in given] == expected
    assert is_signed(b"{}", None, given[0].secret) is False


def test_the_node_sample_believes_the_same(tmp_path: Path) -> None:
    """Where there is a node, it runs the block; elsewhere the block is only looked at.

    The README's set-up brings no Node, so a run without one proves no more than that the block
    is there, takes the raw body and compares in constant time.
    """
    block, node = sample("node"), shutil.which("node")
    assert "update(body)" in block
    assert "timingSafeEqual" in block
    if node is None:
        return
    given, expected = cases(HUNG_S)
    given, expected = [*given, ("{}", None, given[0].secret)], [*expected, False]
    (tmp_path / "sample.cjs").write_text(block + _ASK_NODE, "utf-8")
    (tmp_path / "cases.json").write_text(json.dumps(given), "utf-8")
    done = subprocess.run(
        [node, tmp_path / "sample.cjs", tmp_path / "cases.json"],
        check=True, capture_output=True, text=True, timeout=HUNG_S,
    )  # fmt: skip
    assert json.loads(done.stdout) == expected


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)
def test_every_event_is_in_the_table_with_its_fields(event: EventType) -> None:
    """The document's tables name each event of the catalogue and each field of its data."""
    [shape] = re.findall(rf"^\| `{re.escape(event.name)}` \| [^|]+ \| ([a-z ]+) \|$", PAPER, re.M)
    [fields] = re.findall(rf"^\| {shape} \| (.+) \|$", PAPER, re.M)
    own = {field.encode_name for field in msgspec.structs.fields(event.data)}
    if shape == "payment":
        own = {"paymentLink", "customer"}
    assert set(re.findall(r"`(\w+)`", fields)) == own


def test_no_event_is_in_the_table_that_is_none() -> None:
    """Every event of the document can be subscribed to, or is the test."""
    named = re.findall(r"^\| `([a-z_]+(?:\.[a-z_]+)+)` \|", PAPER, re.M)
    assert sorted(named) == sorted(event.name for event in EVENTS)
