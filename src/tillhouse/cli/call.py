"""`tillhouse call`: ring a softphone, speak, hear keys, and keep the recording."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import msgspec
import typer

from tillhouse.cli.call_talk import KeyboardTalk
from tillhouse.cli.output import AsJson, CommandError, print_result, stderr_console, table
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.provider import (
    Answered,
    Audio,
    CallLine,
    Dial,
    LineEnded,
    NumberAccount,
    Ringing,
)
from tillhouse.providers.telephony.sip.telephone import SipTelephone
from tillhouse.providers.telephony.targets import ANYWHERE
from tillhouse.providers.telephony.wav import StereoWav
from tillhouse.voice.speech.espeak import Espeak

_GREETING = "Hello. This is Till house. Press any key, and I say it. The hash key ends the call."
_NOT_ANSWERED = (
    "No softphone was reached there: see that it runs, and takes SIP over UDP at this address "
    "(port 5060, unless the address names another)."
)


class _Clock:
    """The time of this machine."""

    def now(self) -> datetime:
        """This moment."""
        return now()

    async def sleep(self, seconds: float) -> None:
        """Return after so long."""
        await asyncio.sleep(seconds)


class Called(msgspec.Struct, frozen=True, rename="camel"):
    """The course of a call."""

    result: str
    ended_by: str
    detail: str
    is_answered: bool
    keys: str
    duration_seconds: float
    recording: str | None


class _Wish(msgspec.Struct, frozen=True):
    """The options of the command."""

    to: str
    say: str
    language: str
    recording: Path
    ring_s: float
    talk_s: float
    settings: dict[str, str]


def call(  # noqa: PLR0913 - one argument an option
    to: Annotated[str, typer.Argument(help="Address of the softphone: sip:me@192.168.1.20.")],
    *,
    say: Annotated[str, typer.Option(help="The words to begin with.")] = _GREETING,
    language: Annotated[str, typer.Option(help="A voice of espeak-ng, such as en or fr.")] = "en",
    recording: Annotated[
        Path, typer.Option(help="File of the recording: you are right, Tillhouse is left.")
    ] = Path("call.wav"),
    ring: Annotated[float, typer.Option(help="Seconds to ring.", min=1, max=300)] = 30,
    seconds: Annotated[float, typer.Option(help="Longest talk.", min=1, max=3600)] = 120,
    external_address: Annotated[
        str | None, typer.Option(help="Our address, as the softphone reaches it behind a router.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Call a softphone by its sip: address: it rings, you hear a voice, and it hears your keys."""
    if not to.startswith("sip:"):
        raise typer.BadParameter("give the address of a softphone, such as sip:me@192.168.1.20")
    settings = {"caller_name": "Tillhouse"}
    if external_address is not None:
        settings["external_address"] = external_address
    stop = Stop()
    stop.install()
    wish = _Wish(to, say, language, recording, ring, seconds, settings)
    called = run_until_told(_call(wish), stop)
    rows = [(name, value) for name, value in msgspec.structs.asdict(called).items()]
    shown = table(("what", "value"), [(name.replace("_", " "), value) for name, value in rows])
    print_result(called, as_json=as_json, shown=shown)
    if not called.is_answered:
        if called.result == "network":
            _tell(_NOT_ANSWERED)
        raise typer.Exit(1)


async def _call(wish: _Wish) -> Called:
    recording = _open(wish.recording)
    # The operator calls whom they like, on a network of their own above all.
    telephone = SipTelephone(targets=ANYWHERE)
    is_kept = False
    try:
        line = await telephone.dial(_dial(wish, recording))
        called = await _follow(wish, line)
        is_kept = called.is_answered
        return called
    finally:
        await telephone.close()
        if is_kept:
            recording.finish()
        else:
            recording.discard()


def _open(path: Path) -> StereoWav:
    try:
        return StereoWav(path)
    except OSError as error:
        raise CommandError(f"The recording can't be written to {path}: {error.strerror}.") from None


def _dial(wish: _Wish, recording: StereoWav) -> Dial:
    return Dial(
        attempt_id=uuid4(),
        attempt=1,
        to=wish.to,
        from_number="tillhouse",
        ring_within=timedelta(seconds=wish.ring_s),
        talk_within=timedelta(seconds=wish.talk_s),
        account=NumberAccount(wish.settings),
        clock=_Clock(),
        recorder=recording,
    )


async def _follow(wish: _Wish, line: CallLine) -> Called:
    """Report events, and talk once somebody answers."""
    voice = Espeak.found()
    if voice is None:
        _tell("espeak-ng is not installed: you hear tones instead of words.")
    talk, answered_at = KeyboardTalk(voice, wish.language), None
    talking: asyncio.Task[None] | None = None
    ended: LineEnded | None = None
    _tell(f"Calling {wish.to} …")
    async for happening in line.events():
        match happening:
            case Ringing():
                _tell("It rings. Ctrl-C takes the call back.")
            case Answered():
                _tell("Answered: press keys.")
                answered_at = asyncio.get_running_loop().time()
                talking = asyncio.ensure_future(_talk(talk, line, wish.say))
            case LineEnded():
                ended = happening
    if talking is not None:
        await talking
    assert ended is not None  # noqa: S101 - a line always tells its end
    passed = 0.0
    if answered_at is not None:
        passed = asyncio.get_running_loop().time() - answered_at
    return Called(
        ended.result, ended.ended_by, ended.detail, answered_at is not None, talk.keys,
        round(passed, 1), str(wish.recording) if answered_at is not None else None,
    )  # fmt: skip


async def _talk(talk: KeyboardTalk, line: CallLine, greeting: str) -> None:
    try:
        if isinstance(line.party, Audio):
            await talk.run(line.party, greeting)
    finally:
        await line.hang_up()


def _tell(text: str) -> None:
    stderr_console().print(text, markup=False, soft_wrap=True)
