"""`tillhouse call` rings a telephone, talks, hears keys, and keeps the recording."""

import asyncio
import json
import struct
import subprocess
import sys
import wave
from asyncio.subprocess import PIPE
from pathlib import Path

from tests.cli.command import environment
from tests.providers.telephony.sip.peer import Msg, Peer, peer
from tests.waiting import ended
from tillhouse.providers.telephony.sip import keys


async def _start(to: str, *options: str, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tillhouse", "call", to, "--json", *options,
        env=environment(), cwd=folder, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip


def _press(theirs: Peer, invite: Msg, key: str, at: int) -> None:
    for number, payload in enumerate(keys.payloads(key), at):
        head = struct.pack("!BBHII", 0x80, 101, number, 1000 * at, 77)
        theirs.sound.socket.sendto(head + payload, invite.media())


async def test_a_telephone_rings_talks_and_is_heard(tmp_path: Path) -> None:
    """Keys end what is being said and are told; both sides are in the recording."""
    async with peer() as theirs:
        process = await _start(theirs.uri, folder=tmp_path)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        theirs.accept(invite)
        await theirs.got("ACK")
        await theirs.sound.count(10)
        _press(theirs, invite, "7", 0)
        await theirs.sound.count(len(theirs.sound.packets) + 10)
        _press(theirs, invite, "#", 100)
        theirs.reply(await theirs.got("BYE"), 200)
        out, err = await ended(process.communicate())
        assert b"It rings." in err
        assert any(set(payload) != {0xFF} for *_, payload in theirs.sound.packets)
    told = json.loads(out)
    assert process.returncode == 0
    assert (told["result"], told["endedBy"], told["keys"]) == ("hung_up", "agent", "7#")
    with wave.open(str(tmp_path / told["recording"])) as file:
        assert file.getnchannels() == 2
        assert file.getnframes() / 8000 >= 0.4


async def test_a_telephone_that_is_busy_is_no_success(tmp_path: Path) -> None:
    """The exit code says so, and there is no recording."""
    async with peer() as theirs:
        process = await _start(theirs.uri, folder=tmp_path)
        theirs.reply(await theirs.got("INVITE"), 486, "Busy Here")
        out, _ = await ended(process.communicate())
    told = json.loads(out)
    assert process.returncode == 1
    assert (told["result"], told["detail"]) == ("busy", "486 Busy Here")
    assert list(tmp_path.iterdir()) == []


async def test_a_command_that_is_stopped_takes_the_call_back(tmp_path: Path) -> None:
    """A telephone doesn't ring on for nobody."""
    async with peer() as theirs:
        process = await _start(theirs.uri, folder=tmp_path)
        invite = await theirs.got("INVITE")
        theirs.reply(invite, 180)
        assert process.stderr is not None
        while b"It rings." not in await ended(process.stderr.readline()):
            pass
        process.terminate()
        theirs.reply(await theirs.got("CANCEL"), 200)
        theirs.reply(invite, 487)
        await ended(process.communicate())
    assert list(tmp_path.iterdir()) == []


def test_a_number_is_no_softphone(tmp_path: Path) -> None:
    """It says what to give instead."""
    done = subprocess.run(
        [sys.executable, "-m", "tillhouse", "call", "+2348030000001"],
        env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "sip:" in done.stderr


async def test_a_telephone_that_is_not_there_is_told_with_what_to_do(tmp_path: Path) -> None:
    """At once, not after half a minute."""
    async with peer() as theirs:
        address = theirs.uri
    process = await _start(address, folder=tmp_path)
    out, err = await ended(process.communicate())
    assert (process.returncode, json.loads(out)["detail"]) == (1, "port closed")
    assert b"see that it runs" in err
