"""Calls at once in one process: packets lost, and the time between two packets of a call."""

import argparse
import asyncio
import json
import struct
import time
from datetime import timedelta
from uuid import uuid4

import uvloop
from rich.console import Console
from rich.table import Table
from tests.providers.telephony.sip.calling import RealClock

from bench.backlog import Process
from tillhouse.providers.telephony.provider import Account, Answered, Audio, Dial, Ended
from tillhouse.providers.telephony.sip.media import Media
from tillhouse.providers.telephony.sip.telephone import SipTelephone

CALLS = 20
_SECONDS_MIN = 10.0
_GAP_MS_MAX = 25.0


def measure(options: argparse.Namespace) -> None:
    """Measure, and print a table."""
    callee = Process("bench.callee")
    seconds = max(options.seconds, _SECONDS_MIN)
    try:
        began = time.process_time()
        received = uvloop.run(_talk(f"sip:bench@127.0.0.1:{callee.first_line}", seconds))
        used = time.process_time() - began
        lines = json.loads(callee.ask())
    finally:
        callee.stop()
    gaps = sorted(gap for line in lines for gap in line["gaps"])
    p99 = gaps[len(gaps) * 99 // 100]
    sent = sum(line["packets"] for line in lines)
    lost = sum(line["lost"] for line in lines)
    table = Table(f"{len(lines)} calls of {seconds:g} s in one process", "figure", "bar")
    table.add_row("packets that arrived", f"{sent:,}", "")
    table.add_row("packets lost on the way there", f"{lost:,}", "0")
    table.add_row("packets lost on the way back", f"{received:,}", "0")
    table.add_row("time between two, p99", f"{p99:.1f} ms", f"≤ {_GAP_MS_MAX:g} ms")
    table.add_row("time between two, longest", f"{gaps[-1]:.1f} ms", "")
    table.add_row("processor time", f"{used / seconds:.0%} of a core", "")
    Console().print(table)


async def _talk(to: str, seconds: float) -> int:
    """Talk on all lines; the packets that were sent back and never heard."""
    telephone = SipTelephone()
    lost = await asyncio.gather(*(_call(telephone, to, seconds) for _ in range(CALLS)))
    await telephone.close()
    return sum(lost)


async def _call(telephone: SipTelephone, to: str, seconds: float) -> int:
    dial = Dial(
        attempt_id=uuid4(), attempt=1, to=to, from_number="+2348030000000",
        ring_within=timedelta(seconds=30), talk_within=timedelta(seconds=seconds),
        account=Account(), clock=RealClock(),
    )  # fmt: skip
    line = await telephone.dial(dial)
    lost = 0
    speech = b"".join(struct.pack("<h", at * 97 % 20_000 - 10_000) for at in range(8000))
    async for happening in line.events():
        if isinstance(happening, Answered):
            assert isinstance(line.party, Audio)
            line.party.play(speech * int(seconds + 1))
        elif isinstance(happening, Ended):
            assert happening.result == "max_duration", happening
            assert isinstance(line.party, Media)
            lost = line.party.received.lost
    return lost
