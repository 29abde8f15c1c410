"""A peer that lies: whatever it answers or asks, nothing is raised and every line ends.

TILLHOUSE_TEST_FUZZ=20000 calls that many telephones, other ones each time.
"""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import pytest

from tests.providers.telephony.sip.calling import QUICK, Call, answered, dialled, telephone
from tests.providers.telephony.sip.peer import Msg, Peer, peer
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Answered
from tillhouse.providers.telephony.sip.telephone import SipTelephone

pytestmark = pytest.mark.proof

_COUNT = max(60, int(os.environ.get("TILLHOUSE_TEST_FUZZ", "0")))
_SEED = random.randrange(2**32) if "TILLHOUSE_TEST_FUZZ" in os.environ else 7  # noqa: S311
_AT_ONCE = 20
_MESSAGES = 12
_DIGITS = "9" * 5000
# Beyond what Python turns into a number.
_FORMATS = f"0 101 {_DIGITS}"
_CHALLENGE = 'WWW-Authenticate: Digest realm="a", nonce="b", algorithm=SHA-256, qop="auth"'
_ODD = (
    "", " ", '"', "<", ">", ";", ",", ":", "=", "@", "\\", "/", "\0", "\x7f", "\r\n", "\r\n ", "%",
    "[::1", "[::1]", "255.255.255.255", "224.0.0.1", "::", "fe80::1%lo", "-1", "0", "00000000005",
    "65536", "4294967296", "\u0663", "\u00b2", "\u017f", "\U0001f4de", "x" * 300, "(" * 50,
    _DIGITS, ";rport=" + _DIGITS, ";received=a b", ";lr", ";tag=", "Digest", "INVITE", "SIP/2.0",
)  # fmt: skip


@contextmanager
def _nothing_raised() -> Iterator[None]:
    """Fail where a datagram or a timer has raised something."""
    found: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: found.append(context))
    yield
    loop.set_exception_handler(None)
    assert not found, [one.get("exception") for one in found[:5]]


def _mutated(chance: random.Random, text: str) -> str:
    """A message with some of its parts cut out, doubled or replaced."""
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        length = chance.choice((0, 0, 1, 3, 10, 40))
        copied = text[at : at + chance.randrange(60)]
        put = chance.choice((*_ODD, copied, copied * 3))
        text = text[:at] + put + text[at + length :]
    return text


class _Liar(Peer):
    """Spoils most of what it sends."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    def _read(self) -> None:
        # A message that it spoilt comes back in our answers, and can't be read.
        with suppress(IndexError, ValueError):
            super()._read()

    def send(self, text: str, to: tuple[str, int]) -> None:
        """Send any text; what is longer than a datagram is lost."""
        is_spoilt = self._chance.random() < 0.7
        data = (_mutated(self._chance, text) if is_spoilt else text).encode("utf-8", "replace")
        self.socket.sendto(data[:60_000], to)


def _lies(theirs: _Liar, invite: Msg, chance: random.Random) -> list[Callable[[], None]]:
    """Everything that a telephone may send, one at a time."""
    kinds = ("", "a=sendonly\r\n", "a=inactive\r\nm=video 9 RTP/AVP 31\r\n", "m=audio 9 x 0\r\n")
    body = theirs.description(chance.choice(kinds), chance.choice(("0 101", "8", _FORMATS)))
    route = [f"Record-Route: <sip:127.0.0.1:{theirs.port};lr>"]

    def ask(method: str, text: str = "", more: tuple[str, ...] = ()) -> Callable[[], None]:
        return lambda: theirs.ask(
            invite, method, chance.randrange(1, 99), text, more=more,
            branch=f"z9hG4bK{chance.randrange(9999)}",
        )  # fmt: skip

    return [
        lambda: theirs.reply(invite, 100),
        lambda: theirs.reply(invite, 183, body=body),
        lambda: theirs.reply(invite, 401, more=[_CHALLENGE]),
        lambda: theirs.reply(invite, 200, body=body, more=route),
        lambda: theirs.reply(invite, 200, body=body, tag=f"fork{chance.randrange(99)}"),
        lambda: theirs.reply(invite, chance.choice((302, 486, 503, 603, 699)),
                             more=["Retry-After: " + chance.choice(_ODD)]),
        ask("INVITE", body),
        ask("INVITE"),
        ask("UPDATE", body, ("Require: timer",)),
        ask("ACK", body),
        ask("OPTIONS"),
        ask("CANCEL"),
        ask("BYE"),
    ]  # fmt: skip


async def _lie(ours: SipTelephone, chance: random.Random) -> None:
    """One call with a liar; it ends by itself, or when it is hung up."""
    theirs = _Liar(chance)
    credentials = {"host": "127.0.0.1", "port": str(theirs.port), "username": "a", "password": "b"}
    try:
        call = await dialled(ours, "+2348030000001", ring_s=1, talk_s=1, settings=credentials)
        invite = await theirs.got("INVITE")
        for _ in range(_MESSAGES):
            chance.choice(_lies(theirs, invite, chance))()
            await asyncio.sleep(0)
        await call.line.hang_up()
        await call.end()
    finally:
        theirs.close()


async def test_whatever_a_telephone_sends_every_call_ends() -> None:
    """Nothing is raised, nothing is left open, and the next call is made."""
    chance = random.Random(_SEED)  # noqa: S311 - no secret
    async with telephone(QUICK) as ours:
        with _nothing_raised():
            for _ in range(0, _COUNT, _AT_ONCE):
                seeds = [chance.randrange(2**32) for _ in range(_AT_ONCE)]
                calls = [_lie(ours, random.Random(seed)) for seed in seeds]  # noqa: S311
                await asyncio.gather(*calls)
            async with peer() as honest:
                call, invite = await answered(ours, honest)
                honest.ask(invite, "BYE", 1)
                assert (await call.end()).ended_by == "customer"
        assert ours.counts.malformed, f"seed {_SEED}"


@asynccontextmanager
async def _rung(settings: dict[str, str] | None = None) -> AsyncIterator[tuple[Call, Peer, Msg]]:
    async with telephone(QUICK) as ours, peer() as theirs:
        with _nothing_raised():
            given = {"host": "127.0.0.1", "port": str(theirs.port), **(settings or {})}
            call = await dialled(ours, "+2348030000001", ring_s=1, settings=given)
            yield call, theirs, await theirs.got("INVITE")


async def test_a_format_without_end_is_no_format() -> None:
    """The sound is described by the others; a description of it alone ends the call."""
    async with _rung() as (call, theirs, invite):
        theirs.reply(invite, 200, body=theirs.description(formats=_FORMATS))
        assert isinstance(await call.next(), Answered)
    async with _rung() as (call, theirs, invite):
        theirs.reply(invite, 200, body=theirs.description(formats=_DIGITS))
        assert (await ended(call.end())).result == "codec"


@pytest.mark.parametrize(
    "seen",
    [f"received=192.0.2.1;rport={_DIGITS}", "received=192.0.2.1;rport=0",
     'received="<a> b";rport=5060', "received=example.com;rport=5060", "received;rport=5060",
     "received=192.0.2.1;rport=\u0665\u0660\u0666\u0660"],
)  # fmt: skip
async def test_an_address_that_is_none_is_not_learned(seen: str) -> None:
    """The next INVITE tells the one that our own socket has."""
    async with _rung({"username": "a", "password": "b"}) as (_, theirs, invite):
        via = invite["via"].replace(";rport", f";{seen}")
        theirs.reply(invite, 401, more=[_CHALLENGE], via=via)
        second = await theirs.got("INVITE")
        assert second["contact"] == invite["contact"]
        assert second.media()[0] == "127.0.0.1"
