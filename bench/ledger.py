"""Postings per second on one wallet, against pgbench: with the same statement, and with TPC-B."""

import argparse
import asyncio
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import uvloop
from rich.console import Console
from rich.table import Table

from bench import world
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, new_id
from tillhouse.ledger.posting import WantedHold, hold, post, post_all, settle
from tillhouse.ledger.rules import Account, Ledger, Movement, Postings, Source, Transfer

CLIENTS = 8
TOGETHER = 16
WARM_S = 1.0
_WALLET, _CLEARING = Account("wallet"), Account("provider_clearing")
_TRANSIT = Account("withdrawals_in_transit")
_ONE = Decimal(1)
_PAID_IN = Postings(
    (Transfer(_CLEARING, _WALLET, _ONE, "wallet_deposit"),),
    (Movement("wallet_deposit", "transfer", _ONE),),
)

Work = Callable[[Db, Ledger], Awaitable[object]]


def measure(options: argparse.Namespace) -> None:
    """Measure, and print a table."""
    with world.database() as url:
        uvloop.run(_measure(url, options.seconds))


async def _measure(url: str, seconds: float) -> None:
    async with world.services(url) as services:
        book = BookId(UUID(str((await world.business(services))["test"])))
        await _run(services, book, _post, WARM_S)
        peer = await asyncio.to_thread(_same_statement, url, await _sent(book), seconds)
        tpcb = await asyncio.to_thread(_tpcb, url, seconds)
        one = await _run(services, book, _post, seconds)
        together = TOGETHER * await _run(services, book, _post_together, seconds)
        held = await _run(services, book, _hold_and_settle, seconds)
    table = Table(f"On one wallet, {CLIENTS} clients", "per second", "bar")
    table.add_row("pgbench -M prepared, the statement of post", f"{peer:,.0f}", "")
    table.add_row("pgbench -M prepared, TPC-B", f"{tpcb:,.0f}", "")
    table.add_row("post, each in a transaction", f"{one:,.0f}", _judged(one, peer, tpcb))
    table.add_row(f"post_all, {TOGETHER} in a transaction", f"{together:,.0f}", "≥ 1,000")
    table.add_row("hold and settle, in a transaction", f"{held:,.0f}", "")
    Console().print(table)


def _judged(one: float, peer: float, tpcb: float) -> str:
    """Both bars: of the same statement, and 1,000 a second where TPC-B comes to 2,000.

    A slower machine owes half of its TPC-B.
    """
    wanted = min(1_000.0, tpcb / 2)
    return f"{one / peer:.0%} of the same (≥ 60 %); ≥ {wanted:,.0f}"


def _source() -> Source:
    return Source(type="bench", id=new_id(), happened_at=now())


async def _post(db: Db, ledger: Ledger) -> None:
    await post(db, ledger, _source(), _PAID_IN)


async def _post_together(db: Db, ledger: Ledger) -> None:
    await post_all(db, ledger, [(_source(), _PAID_IN) for _ in range(TOGETHER)])


async def _hold_and_settle(db: Db, ledger: Ledger) -> None:
    held = await hold(db, ledger, _source(), WantedHold(_WALLET, _ONE, "withdrawal"))
    await settle(db, ledger, held, _TRANSIT, kind="withdrawal")


async def _run(services: Services, book: BookId, work: Work, seconds: float) -> float:
    """Transactions per second of so many clients, each after its own last commit."""
    done = itertools.count()
    began = time.monotonic()

    async def client() -> None:
        while time.monotonic() < began + seconds:
            async with services.pool.transaction() as db:
                await work(db, Ledger(book, "NGN", now()))
            next(done)

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return next(done) / (time.monotonic() - began)


class _Notes:
    """Notes a statement instead of sending it."""

    sent: tuple[str, tuple[Any, ...]]

    async def execute(self, sql: str, *args: Any) -> str:
        """Note it."""
        self.sent = (sql, args)
        return ""


async def _sent(book: BookId) -> str:
    """The statement of a post as pgbench sends it: its ids are drawn anew each time."""
    notes, source = _Notes(), _source()
    posted = await post(cast(Db, notes), Ledger(book, "NGN", now()), source, _PAID_IN)
    sql, args = notes.sent
    drawn = {str(source.id): "a", str(posted.transfers[0]): "b", str(posted.transactions[0]): "c"}
    reference = re.search(r"TXN-\w+", args[4])
    assert reference
    texts = [args[3], args[4].replace(reference[0], "TXN-" + str(source.id)), args[5]]
    # A colon before a digit would be a variable of pgbench's.
    texts = [text.replace('":', '": ') for text in texts]
    for id_, name in drawn.items():
        texts = [text.replace(id_, f"' || {_id(name)} || '") for text in texts]
    values = [
        f"'{book}'::uuid", "now()", "'NGN'::text", *(f"('{text}')::json" for text in texts),
        "ARRAY['bench']", f"ARRAY[({_id('a')})::uuid]", "ARRAY[NULL::uuid]", "ARRAY[NULL::uuid]",
        "ARRAY[now()]",
    ]  # fmt: skip
    filled = re.sub(r"\$(\d+)", lambda match: values[int(match[1]) - 1], sql)
    return " ".join(line for line in filled.splitlines() if not line.strip().startswith("--"))


def _id(name: str) -> str:
    return f"'00000000-0000-7000-8000-' || lpad(to_hex((:{name})::bigint), 12, '0')"


def _same_statement(url: str, statement: str, seconds: float) -> float:
    """Transactions per second of pgbench with this statement between BEGIN and COMMIT."""
    drawn = "".join(f"\\set {name} random(1, {2**47})\n" for name in "abc")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "post.sql"
        script.write_text(f"{drawn}BEGIN;\n{statement};\nCOMMIT;\n", "utf-8")
        return _per_second(_pgbench(url, *_load(seconds), "-f", str(script)))


def _tpcb(url: str, seconds: float) -> float:
    """Transactions per second of pgbench's own, with a branch for each client."""
    _pgbench(url, "--initialize", "--quiet", "--scale", str(CLIENTS))
    return _per_second(_pgbench(url, *_load(seconds), "-b", "tpcb-like"))


def _load(seconds: float) -> tuple[str, ...]:
    return "--no-vacuum", "-M", "prepared", "-c", str(CLIENTS), "-T", str(max(int(seconds), 1))


def _per_second(done: subprocess.CompletedProcess[str]) -> float:
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found, done.stderr
    return float(found[1])


def _pgbench(url: str, *args: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("pgbench")
    if program is None:
        sys.exit("Install PostgreSQL's pgbench (Debian: postgresql-contrib) to compare with it.")
    parts = urlsplit(url)
    host = parts.hostname or parse_qs(parts.query)["host"][0]
    own = ("-h", host, "-U", unquote(parts.username or ""), parts.path.strip("/"))
    return subprocess.run(
        [program, *args, *own], check=True, capture_output=True, text=True,
        env={"PGPASSWORD": unquote(parts.password or "")},
    )  # fmt: skip
