"""Calls at once in one process, and how soon after its request a telephone rings."""

import argparse
import asyncio
import json
import struct
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import msgspec
import uvloop
from rich.console import Console
from rich.table import Table
from tests.providers.telephony.sip.calling import RealClock

from bench import world
from bench.backlog import Process
from tillhouse.providers.telephony.provider import Answered, Dial, LineEnded, NumberAccount
from tillhouse.providers.telephony.sip.media import RtpSession
from tillhouse.providers.telephony.sip.telephone import SipTelephone
from tillhouse.providers.telephony.targets import ANYWHERE
from tillhouse.voice.dispatching.dispatcher import Dispatcher

CALLS = 20
_SECONDS_MIN = 10.0
_GAP_MS_MAX = 25.0
_FLOODED = 20_000
_QUEUED, _INVITE_MS_MAX = 60, 100.0
_SCOPES = ("voice:read", "voice:calls:read", "voice:calls:create")


def measure(options: argparse.Namespace) -> None:
    """Measure, and print tables."""
    _measure_talk(options, flooded=0)
    if options.floods:
        _measure_talk(options, flooded=_FLOODED)
        return
    with (
        world.database() as url,
        world.server("tillhouse", url, rate_limit="0", log_level="error") as port,
    ):
        times = sorted(uvloop.run(_queue(url, port)))
    table = Table(f"{len(times)} calls, one after the other, when idle", "figure", "bar")
    table.add_row("request to INVITE, p50", f"{times[len(times) // 2]:.1f} ms", "")
    p95 = times[len(times) * 95 // 100]
    table.add_row("request to INVITE, p95", f"{p95:.1f} ms", f"≤ {_INVITE_MS_MAX:g} ms")
    Console().print(table)


class _Busy(asyncio.DatagramProtocol):
    """A telephone that notes when it is called, and is busy."""

    def __init__(self) -> None:
        self.invited: asyncio.Queue[float] = asyncio.Queue()
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to listen."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer an INVITE."""
        arrived = time.perf_counter()
        text = data.decode()
        if not text.startswith("INVITE") or self._transport is None:
            return
        self.invited.put_nowait(arrived)
        wanted = ("via", "from", "to", "call-id", "cseq")
        lines = [
            line for line in text.split("\r\n") if line.partition(":")[0].strip().lower() in wanted
        ]
        answer = ["SIP/2.0 486 Busy Here", *lines, "Content-Length: 0", "", ""]
        self._transport.sendto("\r\n".join(answer).encode(), addr)


class _Redirected(SipTelephone):
    """Calls one telephone, whatever the number."""

    def __init__(self, to: str) -> None:
        super().__init__(targets=ANYWHERE)
        self._to = to

    async def dial(self, dial: Dial) -> Any:
        """Dial it by SIP."""
        return await super().dial(msgspec.structs.replace(dial, to=self._to))


async def _queue(url: str, port: int) -> list[float]:
    """Place calls over HTTP; the milliseconds until the INVITE of each."""
    loop = asyncio.get_running_loop()
    transport, busy = await loop.create_datagram_endpoint(_Busy, local_addr=("127.0.0.1", 0))
    to = f"sip:bench@127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    token = await asyncio.to_thread(world.api_key, port, _SCOPES)

    def ask(method: str, path: str, body: object = None) -> Any:
        return world.call(port, method, f"/v1/voice/{path}", body, token)

    number, agent = [
        (await asyncio.to_thread(ask, "GET", name))[0]["id"] for name in ("numbers", "agents")
    ]
    times: list[float] = []
    async with world.services(url) as services:
        pool = services.pool
        pool.notifier.start(pool.dedicated, pool.notify, listens=True)
        dispatcher = Dispatcher(services, {"simulator": _Redirected(to)}, RealClock())
        dispatcher.start()
        for count in range(_QUEUED):
            body = {
                "customer_phone": f"+23480300{count:05}", "purpose": "Confirm the order",
                "business_voice_number_id": number, "ai_agent_id": agent,
            }  # fmt: skip
            began = time.perf_counter()
            await asyncio.to_thread(ask, "POST", "calls", body)
            times.append(1000 * (await busy.invited.get() - began))
            while dispatcher.calls:  # noqa: ASYNC110 - it ends within milliseconds
                await asyncio.sleep(0.05)
        await dispatcher.stop()
        await pool.notifier.stop()
    transport.close()
    return times


def _measure_talk(options: argparse.Namespace, flooded: int) -> None:
    callee = Process("bench.callee")
    seconds = max(options.seconds, _SECONDS_MIN)
    try:
        began = time.process_time()
        to = f"sip:bench@127.0.0.1:{callee.first_line}"
        received, foreign = uvloop.run(_talk(to, seconds, flooded))
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
    if flooded:
        table.add_row("packets of strangers, a second", f"{flooded:,}", "")
        table.add_row("of these read and ignored", f"{foreign:,}", "")
    table.add_row("processor time", f"{used / seconds:.0%} of a core", "")
    Console().print(table)


async def _talk(to: str, seconds: float, flooded: int) -> tuple[int, int]:
    """Talk on all lines; the packets that were sent back and never heard, and foreign ones."""
    telephone, ports = SipTelephone(targets=ANYWHERE), asyncio.Queue[int]()
    calls = [asyncio.create_task(_call(telephone, to, seconds, ports)) for _ in range(CALLS)]
    flood = None
    if flooded:
        all_ports = [str(await ports.get()) for _ in range(CALLS)]
        flood = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.flood", str(flooded), str(seconds - 1), *all_ports,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    lost = await asyncio.gather(*calls)
    if flood is not None:
        await flood.wait()
    await telephone.close()
    return sum(lost), telephone.counts.foreign_media


async def _call(telephone: SipTelephone, to: str, seconds: float, ports: asyncio.Queue[int]) -> int:
    dial = Dial(
        attempt_id=uuid4(), attempt=1, to=to, from_number="+2348030000000",
        ring_within=timedelta(seconds=30), talk_within=timedelta(seconds=seconds),
        account=NumberAccount(), clock=RealClock(),
    )  # fmt: skip
    line = await telephone.dial(dial)
    lost = 0
    speech = b"".join(struct.pack("<h", at * 97 % 20_000 - 10_000) for at in range(8000))
    async for happening in line.events():
        if isinstance(happening, Answered):
            assert isinstance(line.party, RtpSession)
            ports.put_nowait(line.party.port)
            line.party.play(speech * int(seconds + 1))
        elif isinstance(happening, LineEnded):
            assert happening.result == "max_duration", happening
            assert isinstance(line.party, RtpSession)
            lost = line.party.received.lost
    return lost
