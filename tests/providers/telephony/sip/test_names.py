"""Name servers that hang hold up the calls to their own names, and nothing else."""

import asyncio
import socket
import threading

from tests.providers.telephony.sip.calling import Call, attempt, dialled, telephone
from tests.providers.telephony.sip.peer import peer
from tests.waiting import ended
from tillhouse.providers.names import Answers

# More than there are threads in the loop's own pool on any machine (32).
_HANGING = 40


async def test_a_name_server_that_hangs_holds_up_its_own_names() -> None:
    """A call to another name begins, and other work in threads goes on."""
    released = threading.Event()

    def ask(host: str, port: int) -> Answers:
        if host.startswith("silent"):
            released.wait()
            raise OSError
        return [(socket.AF_INET, ("127.0.0.1", port))]

    async with telephone(ask=ask) as ours, peer() as theirs:
        silent = [
            asyncio.ensure_future(ours.dial(attempt(f"sip:ada@silent-{number}.example.com")))
            for number in range(_HANGING)
        ]
        try:
            await dialled(ours, f"sip:ada@answers.example.com:{theirs.port}")
            await theirs.got("INVITE")
            assert await ended(asyncio.to_thread(sum, (1, 2))) == 3
            assert not any(one.done() for one in silent)
        finally:
            released.set()
        for line in await asyncio.gather(*silent):
            end = await Call(line).end()
            assert (end.result, end.detail.partition(" ")[2]) == ("network", "has no address")
    assert ours.counts.calls == 1


async def test_calls_and_packets_are_counted() -> None:
    """Those of calls that are over, by their fate."""
    async with telephone() as ours, peer() as theirs:
        refused = await dialled(ours, theirs.uri)
        theirs.reply(await theirs.got("INVITE"), 486)
        await refused.end()
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.accept(invite)
        await theirs.got("ACK")
        await theirs.sound.count(3)
        await call.line.hang_up()
        theirs.reply(await theirs.got("BYE"), 200)
        await call.end()
        counted = ours.counted()
    assert (counted["calls"], counted["answered"], counted["refused"]) == (2, 1, 1)
    assert counted["packets_sent"] >= 3
