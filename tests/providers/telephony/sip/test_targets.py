"""Nothing is sent to an address that is not public, whoever names it.

Here 127.0.0.1 stands for the public internet, and 127.0.0.2 for a network inside.
"""

from ipaddress import ip_network

import pytest

from tests.providers.telephony.sip.calling import answered, dialled, telephone
from tests.providers.telephony.sip.peer import Peer, Sound, peer
from tillhouse.providers.telephony.provider import Answered
from tillhouse.providers.telephony.targets import PUBLIC, Targets

OUTSIDE = Targets((ip_network("127.0.0.1/32"),))
INSIDE = "127.0.0.2"


@pytest.mark.parametrize(
    "host",
    [INSIDE, "127.2", "2130706434", "localhost", "169.254.169.254", "10.0.0.1", "0.0.0.1",
     "[::1]", "[::ffff:127.0.0.2]", "[fe80::1]", "[64:ff9b::7f00:2]"],
)  # fmt: skip
async def test_a_host_inside_is_not_dialled(host: str) -> None:
    """However it is spelt, and when a name leads there; nothing is sent, nor tried again."""
    async with telephone(targets=PUBLIC) as ours, peer(INSIDE) as inside:
        call = await dialled(ours, f"sip:+15550100@{host}:{inside.port}", ring_s=1)
        end = await call.end()
        assert (end.result, end.may_retry) == ("provider_unavailable", False)
        assert end.detail.endswith("is a private, local or reserved address")
        assert not inside.came
        assert ours.counts.forbidden_targets == 1
        assert ours.open_wires == 0


async def test_a_number_of_a_trunk_inside_is_not_dialled() -> None:
    """The host of its settings is held to the same."""
    async with telephone(targets=PUBLIC) as ours, peer(INSIDE) as inside:
        settings = {"host": INSIDE, "port": str(inside.port)}
        call = await dialled(ours, "+2348030000100", settings=settings, ring_s=1)
        assert (await call.end()).result == "provider_unavailable"
        assert not inside.came


async def test_requests_of_a_call_stay_outside() -> None:
    """A Contact and a Record-Route that lead inside get nothing: ACK and BYE go to the peer."""
    async with telephone(targets=OUTSIDE) as ours, peer() as theirs, peer(INSIDE) as inside:
        for more in ((), (f"record-route: <sip:{INSIDE}:{inside.port};lr>",)):
            call = await dialled(ours, theirs.uri)
            invite = await theirs.got("INVITE")
            theirs.reply(invite, 200, body=theirs.description(), more=more, contact=inside.uri)
            assert isinstance(await call.next(), Answered)
            await theirs.got("ACK")
            await call.line.hang_up()
            theirs.reply(await theirs.got("BYE"), 200)
            await call.end()
        assert not inside.came
        assert ours.counts.forbidden_targets > 0


async def test_a_redirection_inside_is_not_followed() -> None:
    """Nor is any other."""
    async with telephone(targets=OUTSIDE) as ours, peer() as theirs, peer(INSIDE) as inside:
        call = await dialled(ours, theirs.uri)
        theirs.reply(await theirs.got("INVITE"), 302, contact=inside.uri)
        assert (await call.end()).result == "invalid_destination"
        assert not inside.came


async def test_sound_stays_outside() -> None:
    """It goes nowhere until the peer is heard, and then there."""
    async with telephone(targets=OUTSIDE) as ours, peer() as theirs:
        inside = Sound(INSIDE)
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 200, body=_described(theirs, inside))
        assert isinstance(await call.next(), Answered)
        await theirs.got("ACK")
        async for _ in call.media.heard():
            if call.media.flow.packets > 5:
                break
        assert not theirs.sound.packets
        theirs.sound.send(invite.media(), 1, b"\xff" * 160)
        await theirs.sound.count(5)
        assert not inside.packets
        inside.close()


async def test_a_changed_description_keeps_the_sound_outside() -> None:
    """A re-INVITE that names an address inside is answered, and gets no sound."""
    async with telephone(targets=OUTSIDE) as ours, peer() as theirs:
        inside = Sound(INSIDE)
        _, invite = await answered(ours, theirs)
        await theirs.sound.count(2)
        theirs.ask(invite, "INVITE", 7, _described(theirs, inside))
        reply = await theirs.got("200")
        theirs.ask(invite, "ACK", 7)
        theirs.sound.send(reply.media(), 1, b"\xff" * 160)
        await theirs.sound.count(len(theirs.sound.packets) + 5)
        assert not inside.packets
        inside.close()


def _described(theirs: Peer, inside: Sound) -> str:
    body = theirs.description(port=inside.port)
    return body.replace("c=IN IP4 127.0.0.1", f"c=IN IP4 {INSIDE}")
