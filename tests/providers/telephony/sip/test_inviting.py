"""From the INVITE to an answer, whatever the answer is."""

import asyncio
from datetime import timedelta

import pytest

from tests.providers.telephony.sip.calling import QUICK, answered, dialled, telephone
from tests.providers.telephony.sip.peer import is_authorised, peer
from tests.waiting import ended
from tillhouse.providers.telephony.provider import Answered, LineEnded, Result, Ringing

_CREDENTIALS = {"username": "till", "password": "open sesame"}


async def test_a_call_rings_is_answered_and_hung_up_here() -> None:
    """Ringing, Answered and Ended, and every message that the other side needs."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 100)
        theirs.reply(invite, 180)
        ringing = await call.next()
        theirs.accept(invite)
        said = await call.next()
        ack = await theirs.got("ACK")
        await call.line.hang_up()
        await call.line.hang_up()
        end = await call.end()
        bye = await theirs.got("BYE")
        theirs.reply(bye, 200)
    assert ringing == Ringing(invite["call-id"])
    assert said == Answered(provider_call_id=invite["call-id"])
    assert (end.result, end.ended_by) == ("hung_up", "agent")
    assert ack.cseq == invite.cseq
    assert (bye.cseq, bye.uri) == (invite.cseq + 1, theirs.uri)
    assert ack["to"] == bye["to"] == invite["to"] + ";tag=peer1"
    assert len({invite.branch, ack.branch, bye.branch}) == 3
    assert ours.counts.strays == 0


_STATUSES: list[tuple[int, Result, bool]] = [
    (301, "invalid_destination", False), (302, "invalid_destination", False),
    (400, "forbidden", False), (403, "forbidden", False), (404, "invalid_destination", False),
    (408, "no_answer", True), (410, "invalid_destination", False), (415, "codec", False),
    (401, "trunk_auth", False), (407, "trunk_auth", False), (420, "forbidden", False),
    (480, "no_answer", True), (484, "invalid_destination", False),
    (485, "invalid_destination", False), (486, "busy", True),
    (487, "no_answer", True), (488, "codec", False), (491, "provider_unavailable", True),
    (500, "provider_unavailable", True), (503, "provider_unavailable", True),
    (504, "provider_unavailable", True), (600, "busy", True), (603, "declined", False),
    (604, "invalid_destination", False), (606, "codec", False), (607, "unwanted", False),
    (608, "unwanted", False), (699, "busy", True),
]  # fmt: skip


@pytest.mark.parametrize(("status", "result", "may_retry"), _STATUSES)
async def test_every_refusal_has_its_result(status: int, result: Result, may_retry: bool) -> None:
    """One end for each status, its words for people, and an ACK in the INVITE's transaction."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, status, "In Words")
        end = await call.end()
        ack = await theirs.got("ACK")
        theirs.reply(invite, status, "In Words")
        await theirs.times(ack, 2)
    assert (end.result, end.may_retry, end.sip_status) == (result, may_retry, status)
    assert end.detail == f"{status} In Words"
    assert (ack.branch, ack.cseq, ack.uri) == (invite.branch, invite.cseq, invite.uri)
    assert ack["to"].endswith(";tag=peer1")


async def test_a_limit_of_the_trunk_is_tried_again() -> None:
    """Only the words of a 403 tell that there were too many calls; Retry-After is handed on."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        more = ["Retry-After: 18 (busy hour);duration=3600"]
        theirs.reply(await theirs.got("INVITE"), 403, "User channel limit exceeded", more=more)
        end = await call.end()
    assert (end.result, end.may_retry) == ("forbidden", True)
    assert end.retry_after == timedelta(seconds=18)


async def test_nobody_answers_in_time() -> None:
    """The INVITE is cancelled, and its 487 acknowledged."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri, ring_s=0.05)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        cancel = await theirs.got("CANCEL")
        theirs.reply(cancel, 200)
        theirs.reply(invite, 487)
        end = await call.end()
        await theirs.got("ACK")
    assert (end.result, end.ended_by, end.sip_status) == ("no_answer", "system", 487)
    assert (cancel.branch, cancel.cseq, cancel.uri) == (invite.branch, invite.cseq, invite.uri)


async def test_a_call_is_taken_back_once_the_other_side_knows_of_it() -> None:
    """CANCEL waits for a provisional answer: before it, it would overtake the INVITE."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        await call.line.hang_up()
        await theirs.times(invite, 2)
        assert not theirs.has("CANCEL")
        theirs.reply(invite, 100)
        theirs.reply(await theirs.got("CANCEL"), 200)
        theirs.reply(invite, 487)
        end = await call.end()
    assert (end.result, end.ended_by) == ("cancelled", "agent")


async def test_an_answer_that_crosses_the_cancel_is_told_and_hung_up() -> None:
    """ACK and BYE: nobody is left with an open line."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        assert isinstance(await call.next(), Ringing)
        await call.line.hang_up()
        theirs.accept(invite)
        assert isinstance(await call.next(), Answered)
        end = await call.end()
        await theirs.got("ACK")
        await theirs.got("BYE")
    assert (end.result, end.ended_by) == ("hung_up", "agent")


async def test_an_answer_that_crosses_the_end_of_our_patience_is_hung_up() -> None:
    """ACK and BYE, and the attempt is one that nobody answered in time."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri, ring_s=0.05)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        await theirs.got("CANCEL")
        theirs.accept(invite)
        await theirs.got("ACK")
        theirs.reply(await theirs.got("BYE"), 200)
        end = await call.end()
    assert (end.result, end.ended_by) == ("no_answer", "system")


async def test_a_cancel_that_is_never_answered_ends_by_itself() -> None:
    """An agent that knows no 487 can't hold the line."""
    async with telephone(QUICK) as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        await call.line.hang_up()
        end = await call.end()
        assert theirs.came["CANCEL", invite.branch] > 2
    assert end.result == "cancelled"


async def test_a_closed_port_is_heard_of_at_once() -> None:
    """The refusal of the other kernel ends the attempt, long before its timer would."""
    async with telephone() as ours, peer() as gone:
        uri = gone.uri
    async with telephone() as ours:
        end = await (await dialled(ours, uri)).end()
    assert (end.result, end.detail, end.may_retry) == ("network", "port closed", True)


async def test_silence_ends_by_timer_b() -> None:
    """The INVITE is repeated at growing pauses, and given up after 64 times T1."""
    async with telephone(QUICK) as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        end = await call.end()
        assert 4 <= theirs.came["INVITE", invite.branch] <= 7
    assert (end.result, end.detail, end.may_retry) == ("network", "no response", True)


async def test_lost_datagrams_are_repeated() -> None:
    """Two INVITEs are lost, and the call is made."""
    async with telephone(QUICK) as ours, peer() as theirs:
        theirs.loses = 2
        call, _ = await answered(ours, theirs)
        theirs.loses = 2
        await call.line.hang_up()
        theirs.reply(await theirs.got("BYE"), 200)
        assert (await call.end()).result == "hung_up"


def _challenge(status: int, algorithm: str, nonce: str = "n1", more: str = "") -> list[str]:
    name = "WWW-Authenticate" if status == 401 else "Proxy-Authenticate"
    return [
        f'{name}: Digest realm="trunk", nonce="{nonce}", qop="auth", algorithm={algorithm}{more}'
    ]


@pytest.mark.parametrize(
    ("status", "algorithm", "header"),
    [
        (401, "MD5", "authorization"),
        (401, "SHA-256", "authorization"),
        (407, "MD5", "proxy-authorization"),
        (407, "SHA-256", "proxy-authorization"),
    ],
)
async def test_trunks_are_answered_with_a_digest(status: int, algorithm: str, header: str) -> None:
    """A new INVITE of the same call, ACK and BYE with it; the number goes to the trunk."""
    async with telephone() as ours, peer() as trunk:
        settings = {"host": "127.0.0.1", "port": str(trunk.port), **_CREDENTIALS}
        call = await dialled(ours, "+2348030000001", settings=settings)
        first = await trunk.got("INVITE")
        trunk.reply(first, status, more=_challenge(status, algorithm))
        second = await trunk.got("INVITE")
        assert is_authorised(second, header, "open sesame", algorithm)
        trunk.accept(second)
        assert isinstance(await call.next(), Answered)
        await call.line.hang_up()
        bye = await trunk.got("BYE")
        assert is_authorised(bye, header, "open sesame", algorithm)
        trunk.reply(bye, status, more=_challenge(status, algorithm, "n2"))
        bye = await trunk.got("BYE")
        assert is_authorised(bye, header, "open sesame", algorithm)
    assert first.uri == f"sip:+2348030000001@127.0.0.1:{trunk.port}"
    assert second["call-id"] == first["call-id"]
    assert second["from"] == first["from"]
    assert (second.cseq, bye.cseq) == (first.cseq + 1, first.cseq + 3)


async def test_a_wrong_password_is_tried_once() -> None:
    """The second question ends it, and says so."""
    async with telephone() as ours, peer() as trunk:
        settings = {"host": "127.0.0.1", "port": str(trunk.port), **_CREDENTIALS}
        call = await dialled(ours, "+2348030000001", settings=settings)
        for _ in range(2):
            trunk.reply(await trunk.got("INVITE"), 401, more=_challenge(401, "MD5"))
        end = await call.end()
        assert not trunk.has("INVITE")
    assert (end.result, end.may_retry) == ("trunk_auth", False)


async def test_a_nonce_that_grew_old_is_replaced() -> None:
    """The password is right; the trunk only wants a newer nonce."""
    async with telephone() as ours, peer() as trunk:
        settings = {"host": "127.0.0.1", "port": str(trunk.port), **_CREDENTIALS}
        call = await dialled(ours, "+2348030000001", settings=settings)
        trunk.reply(await trunk.got("INVITE"), 407, more=_challenge(407, "MD5"))
        stale = _challenge(407, "MD5", "n2", ", stale=true")
        trunk.reply(await trunk.got("INVITE"), 407, more=stale)
        trunk.accept(await trunk.got("INVITE"))
        assert isinstance(await call.next(), Answered)


async def test_the_password_goes_to_its_trunk_alone() -> None:
    """Another address that asks for it gets nothing."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri, settings={"host": "192.0.2.1", **_CREDENTIALS})
        theirs.reply(await theirs.got("INVITE"), 401, more=_challenge(401, "MD5"))
        assert (await call.end()).result == "trunk_auth"
        assert not theirs.has("INVITE")


async def test_a_thousand_provisional_answers_ring_once() -> None:
    """The line tells of it once, and goes on."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        for number in range(1000):
            theirs.reply(invite, 180 if number % 2 else 183, body=theirs.description())
            # The receiving socket holds some hundreds.
            await asyncio.sleep(0)
        theirs.reply(invite, 486)
        assert isinstance(await call.next(), Ringing)
        assert isinstance(await call.next(), LineEnded)


async def test_answers_to_what_was_never_asked_are_ignored() -> None:
    """Another branch, number, method or call, several Vias, and what is no SIP: all are counted."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        via = invite["via"]
        theirs.reply(invite, 486, via=via.replace(invite.branch, "z9hG4bKforeign"))
        theirs.reply(invite, 486, cseq="77 INVITE")
        theirs.reply(invite, 486, cseq=f"{invite.cseq} BYE")
        theirs.reply(invite, 200, cseq=f"{invite.cseq} CANCEL")
        theirs.reply(invite, 486, call_id="another")
        theirs.reply(invite, 486, via=f"{via}, SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK2")
        for text in ("", "\r\n\r\n", "SIP/2.0 486 Busy\r\n\r\n", "x" * 20_000):
            theirs.send(text, invite.source)
        theirs.reply(invite, 603)
        end = await call.end()
    assert end.result == "declined"
    assert (ours.counts.strays, ours.counts.malformed) == (6, 2)


@pytest.mark.parametrize(
    ("to", "settings", "result"),
    [
        ("sips:a@127.0.0.1", {}, "invalid_destination"),
        ("sip:a@127.0.0.1;transport=tcp", {}, "invalid_destination"),
        ("sip:a@127.0.0.1\r\nRoute: x", {}, "invalid_destination"),
        ("08030000001", {}, "invalid_destination"),
        ("+2348030000001", {}, "provider_unavailable"),
        ("sip:a@127.0.0.1", {"username": "a"}, "provider_unavailable"),
        ("sip:a@127.0.0.1", {"media_ports": "5-4"}, "provider_unavailable"),
        ("sip:a@127.0.0.1", {"external_address": "a b"}, "provider_unavailable"),
        ("sip:a@127.0.0.1", {"caller_name": "a\r\nb"}, "provider_unavailable"),
        ("+2348030000001", {"host": "a", "port": "0"}, "provider_unavailable"),
        ("sip:a@name.invalid", {}, "network"),
    ],
)
async def test_calls_that_cannot_be_made_end_at_once(
    to: str, settings: dict[str, str], result: str
) -> None:
    """Nothing is sent, and the end says why."""
    async with telephone() as ours:
        end = await (await dialled(ours, to, settings=settings)).end()
    assert end.result == result
    assert end.detail


async def test_our_address_behind_a_router_is_told() -> None:
    """Contact and the description name it, and the port for sound is one of those let through."""
    async with telephone() as ours, peer() as theirs:
        settings = {
            "external_address": "198.51.100.7", "media_ports": "40100-40103",
            "caller_name": 'Ada "Till"',
        }  # fmt: skip
        calls = [await dialled(ours, theirs.uri, settings=settings) for _ in range(3)]
        invites = [await theirs.got("INVITE") for _ in range(2)]
        end = await calls[2].end()
    assert {invite.media() for invite in invites} == {
        ("198.51.100.7", 40100), ("198.51.100.7", 40102),
    }  # fmt: skip
    assert invites[0]["contact"].split("@")[1].startswith("198.51.100.7:")
    assert invites[0]["from"].startswith('"Ada \\"Till\\"" <sip:+2348030000000@')
    assert (end.result, end.detail) == ("network", "no free port for media")


async def test_our_address_is_learned_from_the_trunk() -> None:
    """Where none was set, the one that the trunk sees is told in the next INVITE."""
    async with telephone() as ours, peer() as trunk:
        settings = {"host": "127.0.0.1", "port": str(trunk.port), **_CREDENTIALS}
        await dialled(ours, "+2348030000001", settings=settings)
        first = await trunk.got("INVITE")
        assert first["via"].endswith(";rport")
        seen = first["via"].replace(";rport", ";received=203.0.113.9;rport=41000")
        trunk.reply(first, 401, more=_challenge(401, "MD5"), via=seen)
        second = await trunk.got("INVITE")
    assert second["contact"].split("@")[1] == "203.0.113.9:41000>"
    assert second.media()[0] == "203.0.113.9"


async def test_a_call_that_is_taken_back_is_not_authorised_first() -> None:
    """A challenge that crosses it is acknowledged, and the line is over."""
    async with telephone() as ours, peer() as trunk:
        settings = {"host": "127.0.0.1", "port": str(trunk.port), **_CREDENTIALS}
        call = await dialled(ours, "+2348030000001", settings=settings)
        invite = await trunk.got("INVITE")
        await call.line.hang_up()
        trunk.reply(invite, 401, more=_challenge(401, "MD5"))
        end = await call.end()
        await trunk.got("ACK")
        assert not trunk.has("INVITE")
    assert (end.result, end.ended_by) == ("cancelled", "agent")


async def test_a_line_ends_also_when_nobody_answers_at_the_stop() -> None:
    """Nobody is left waiting for its events."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        await theirs.got("INVITE")
        await ours.close(0)
        end = await call.end()
    assert (end.result, end.ended_by) == ("cancelled", "system")


async def test_a_process_that_stops_hangs_up_everywhere() -> None:
    """Calls that ring are cancelled, calls that were answered end by BYE."""
    async with telephone() as ours, peer() as talking, peer() as ringing:
        await answered(ours, talking)
        await dialled(ours, ringing.uri)
        invite = await ringing.got("INVITE")
        ringing.reply(invite, 180)
        closing = asyncio.ensure_future(ours.close(30))
        talking.reply(await talking.got("BYE"), 200)
        ringing.reply(await ringing.got("CANCEL"), 200)
        ringing.reply(invite, 487)
        await ended(closing)
