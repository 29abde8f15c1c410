"""From the answer to the end: what both sides may ask for in between."""

import pytest

from tests.providers.telephony.sip.calling import QUICK, answered, dialled, telephone
from tests.providers.telephony.sip.peer import peer
from tillhouse.providers.telephony.provider import Answered


async def test_the_customer_hangs_up() -> None:
    """BYE is answered, each time that it comes, and the line tells by whom it was ended."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        for _ in range(2):
            theirs.ask(invite, "BYE", 5)
            await theirs.got("200")
        end = await call.end()
        theirs.ask(invite, "BYE", 5)
        await theirs.got("200")
    assert (end.result, end.ended_by) == ("hung_up", "customer")


async def test_an_answer_that_comes_again_is_acknowledged_again() -> None:
    """The same ACK, also after the end; no second call begins."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.accept(invite)
        ack = await theirs.got("ACK")
        theirs.accept(invite)
        await theirs.times(ack, 2)
        await call.line.hang_up()
        await theirs.got("BYE")
        theirs.accept(invite)
        await theirs.times(ack, 3)
        assert not theirs.has("BYE")


async def test_a_second_telephone_that_answers_is_hung_up() -> None:
    """A fork's second dialogue gets ACK and BYE of its own; the first goes on."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        theirs.accept(invite, tag="fork2")
        ack, bye = await theirs.got("ACK"), await theirs.got("BYE")
        assert ack["to"].endswith(";tag=fork2")
        assert bye["to"].endswith(";tag=fork2")
        theirs.reply(bye, 200)
        theirs.ask(invite, "BYE", 1)
        assert (await call.end()).ended_by == "customer"


async def test_forks_without_end_are_not_all_answered() -> None:
    """A peer can't make us send as much as it likes."""
    async with telephone() as ours, peer() as theirs:
        _, invite = await answered(ours, theirs)
        for number in range(20):
            theirs.accept(invite, tag=f"fork{number}")
        theirs.ask(invite, "OPTIONS", 1)
        await theirs.got("200")
        assert sum(method == "BYE" for method, _ in theirs.came) == 8
    assert ours.counts.strays == 12


@pytest.mark.parametrize(
    "body",
    [
        "",
        "v=0\r\nm=audio 4000 RTP/AVP 18\r\n",
        "v=0\r\nc=IN IP4 1.2.3.4\r\nm=audio 0 RTP/AVP 0\r\n",
    ],
)
async def test_an_answer_without_sound_that_we_speak_is_hung_up(body: str) -> None:
    """ACK, BYE, and the end says why."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        theirs.reply(await theirs.got("INVITE"), 200, body=body)
        end = await call.end()
        await theirs.got("ACK")
        await theirs.got("BYE")
    assert end.result == "codec"
    assert end.detail


async def test_requests_follow_the_recorded_route() -> None:
    """ACK and BYE go to the last proxy that recorded itself, with the others in order."""
    async with telephone() as ours, peer() as theirs, peer() as proxy:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        routes = [
            "<sip:192.0.2.1;lr>",
            f"<sip:127.0.0.1:{proxy.port};lr>;x=1",
        ]
        theirs.reply(
            invite, 200, body=theirs.description(), more=[f"Record-Route: {', '.join(routes)}"]
        )
        assert isinstance(await call.next(), Answered)
        ack = await proxy.got("ACK")
        await call.line.hang_up()
        bye = await proxy.got("BYE")
        proxy.reply(bye, 200)
    for request in (ack, bye):
        assert request.uri == theirs.uri
        assert request.all("route") == [f"<sip:127.0.0.1:{proxy.port};lr>", "<sip:192.0.2.1;lr>"]
        assert request.source[1] == invite.source[1]


async def test_a_strict_router_is_sent_to_as_it_wants() -> None:
    """RFC 2543: its address is the Request-URI, and the telephone's the last route."""
    async with telephone() as ours, peer() as theirs:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        strict = f"sip:127.0.0.1:{theirs.port}"
        theirs.reply(invite, 200, body=theirs.description(), more=[f"Record-Route: <{strict}>"])
        ack = await theirs.got("ACK")
        await call.line.hang_up()
    assert ack.uri == strict
    assert ack.all("route") == [f"<{theirs.uri}>"]


async def test_a_telephone_that_moved_is_followed_and_heard() -> None:
    """Its Contact is another port: ACK goes there, and BYE may come from there."""
    async with telephone() as ours, peer() as theirs, peer() as moved:
        call = await dialled(ours, theirs.uri)
        invite = await theirs.got("INVITE")
        theirs.accept(invite, contact=moved.uri)
        await moved.got("ACK")
        moved.ask(invite, "BYE", 1)
        await moved.got("200")
        assert (await call.end()).ended_by == "customer"


async def test_a_call_is_held_and_taken_up_again() -> None:
    """Each re-INVITE is answered by the mirrored direction, under a new version."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        await theirs.sound.count(3)
        theirs.ask(invite, "INVITE", 2, theirs.description("a=sendonly\r\n"))
        held = await theirs.got("200")
        theirs.ask(invite, "ACK", 2)
        sound = call.media.play(bytes(320 * 2))
        before = len(theirs.sound.packets)
        theirs.ask(invite, "INVITE", 3, theirs.description("a=sendrecv\r\n"))
        again = await theirs.got("200")
        theirs.ask(invite, "ACK", 3)
        await theirs.sound.count(before + 3)
        await sound.done()
        assert "a=recvonly" in held.body
        assert "a=sendrecv" in again.body
        versions = [body.split("o=- ")[1].split(" ")[1] for body in (held.body, again.body)]
        assert int(versions[0]) < int(versions[1])
        assert held["contact"] == again["contact"] == invite["contact"]


async def test_nothing_is_sent_to_a_telephone_that_holds() -> None:
    """Speech waits until somebody hears it again."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        theirs.ask(invite, "INVITE", 2, theirs.description("a=inactive\r\n"))
        await theirs.got("200")
        theirs.ask(invite, "ACK", 2)
        packets = call.media.flow.packets
        sound = call.media.play(bytes(320))
        frames = 0
        async for _ in call.media.heard():
            frames += 1
            if frames == 5:
                break
        assert call.media.flow.packets == packets
        assert not sound.is_over


async def test_a_re_invite_without_an_offer_gets_ours() -> None:
    """The ACK brings the answer, and the sound goes where it says."""
    async with telephone() as ours, peer() as theirs, peer() as other:
        _, invite = await answered(ours, theirs)
        theirs.ask(invite, "INVITE", 2)
        offer = await theirs.got("200")
        assert "m=audio" in offer.body
        theirs.ask(invite, "ACK", 2, theirs.description(port=other.sound.port))
        await other.sound.count(3)


async def test_a_re_invite_that_cannot_be_spoken_is_refused() -> None:
    """488, repeated until its ACK comes; the call goes on as it was."""
    async with telephone(QUICK) as ours, peer() as theirs:
        _, invite = await answered(ours, theirs)
        theirs.ask(invite, "INVITE", 2, theirs.description(formats="18"))
        await theirs.got("488")
        await theirs.got("488")
        theirs.ask(invite, "ACK", 2)
        count = len(theirs.sound.packets)
        await theirs.sound.count(count + 2)


async def test_our_answer_to_a_re_invite_is_repeated_and_without_ack_the_call_ends() -> None:
    """RFC 3261: after 64 times T1 the dialogue is broken, so BYE."""
    async with telephone(QUICK) as ours, peer() as theirs:
        theirs.sound.echoes = True
        call, invite = await answered(ours, theirs)
        theirs.ask(invite, "INVITE", 2, theirs.description())
        for _ in range(3):
            await theirs.got("200")
        end = await call.end()
        await theirs.got("BYE")
    assert (end.result, end.detail, end.may_retry) == ("network", "no ACK", False)


async def test_an_update_is_answered_like_a_re_invite() -> None:
    """Without an ACK; empty, it is a sign of life."""
    async with telephone() as ours, peer() as theirs:
        _, invite = await answered(ours, theirs)
        theirs.ask(invite, "UPDATE", 2, theirs.description("a=sendonly\r\n"))
        assert "a=recvonly" in (await theirs.got("200")).body
        theirs.ask(invite, "UPDATE", 3)
        assert (await theirs.got("200")).body == ""


@pytest.mark.parametrize(
    ("method", "more", "status"),
    [
        ("OPTIONS", [], "200"),
        ("REFER", [], "405"),
        ("UPDATE", ["Require: 100rel"], "420"),
        ("CANCEL", [], "200"),
    ],
)
async def test_other_requests_are_answered(method: str, more: list[str], status: str) -> None:
    """Within a call; none of them ends it."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        theirs.ask(invite, method, 2, more=more)
        answer = await theirs.got(status)
        assert "INVITE" in answer["allow"]
        theirs.ask(invite, "BYE", 3)
        assert (await call.end()).ended_by == "customer"


async def test_requests_out_of_order_or_of_another_dialogue_change_nothing() -> None:
    """A BYE with an old number or with foreign tags doesn't end the call."""
    async with telephone() as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        theirs.ask(invite, "OPTIONS", 9)
        await theirs.got("200")
        theirs.ask(invite, "BYE", 8)
        await theirs.got("500")
        theirs.ask(invite, "BYE", 10, tag="foreign")
        await theirs.got("481")
        theirs.ask(invite, "ACK", 55)
        theirs.ask(invite, "OPTIONS", 11)
        await theirs.got("200")
        assert ours.counts.strays == 3
        theirs.ask(invite, "BYE", 12)
        assert (await call.end()).ended_by == "customer"


async def test_requests_outside_of_calls_are_answered() -> None:
    """A trunk that looks whether we live hears so; calls to us are not taken."""
    async with telephone() as ours, peer() as theirs:
        _, invite = await answered(ours, theirs)
        invite.lines = [
            (name, "another" if name == "call-id" else value) for name, value in invite.lines
        ]
        for method, status in (("OPTIONS", "200"), ("INVITE", "480"), ("BYE", "481")):
            theirs.ask(invite, method, 1, branch=f"z9hG4bK{method}")
            answer = await theirs.got(status)
            assert f"received=127.0.0.1;rport={theirs.port}" in answer["via"]


async def test_a_line_that_falls_silent_ends() -> None:
    """No RTP for the whole time-out: BYE, and the end says so."""
    async with telephone(QUICK) as ours, peer() as theirs:
        call, _ = await answered(ours, theirs)
        end = await call.end()
        await theirs.got("BYE")
    assert (end.result, end.ended_by) == ("media_lost", "system")


async def test_a_line_that_is_held_may_be_silent() -> None:
    """The time-out doesn't run while the other side says that it sends nothing."""
    async with telephone(QUICK) as ours, peer() as theirs:
        call, invite = await answered(ours, theirs, talk_s=2 * QUICK.media_lost + 0.2)
        theirs.ask(invite, "INVITE", 2, theirs.description("a=inactive\r\n"))
        await theirs.got("200")
        theirs.ask(invite, "ACK", 2)
        assert (await call.end()).result == "max_duration"


async def test_a_call_has_a_longest_time() -> None:
    """Then BYE is sent, whatever is said at that moment."""
    async with telephone() as ours, peer() as theirs:
        call, _ = await answered(ours, theirs, talk_s=0.1)
        sound = call.media.play(bytes(16_000 * 60))
        end = await call.end()
        await theirs.got("BYE")
        await sound.done()
    assert (end.result, end.ended_by) == ("max_duration", "system")


async def test_what_comes_after_the_end_is_answered_for_a_while_and_then_forgotten() -> None:
    """No socket and no timer is left of calls that are over."""
    async with telephone(QUICK) as ours, peer() as theirs:
        call, invite = await answered(ours, theirs)
        theirs.ask(invite, "BYE", 1)
        await call.end()
        while ours.open_lines:
            theirs.ask(invite, "BYE", 1)
            await theirs.got("200")
        assert ours.open_wires == 0
