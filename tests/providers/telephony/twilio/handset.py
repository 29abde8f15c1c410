"""The telephone at the other end: answers, and has its sound streamed as Twilio does."""

import asyncio
import base64
import json
import re
from typing import Any, Self

import aiohttp

from tests.providers.telephony.twilio.simulator import ACCOUNT_SID, TwilioSimulator

SILENCE = b"\xff" * 160
STREAM_SID = "MZ" + "1" * 32


class Handset:
    """One stream, over a real socket."""

    def __init__(self, sim: TwilioSimulator, sid: str) -> None:
        self._sim, self._sid = sim, sid
        self._session: aiohttp.ClientSession | None = None
        self._listening: asyncio.Task[None] | None = None
        self._sequence = 0
        self.is_holding_marks = False
        # The sound that was played, and what else came.
        self.played = bytearray()
        self.marks: list[str] = []
        self.clears = 0
        self.changed = asyncio.Event()
        self.closed_by: int | None = None

    @property
    def url(self) -> str:
        """The address that the call's TwiML names."""
        twiml = dict(self._sim.forms[self._sid])["Twiml"]
        found = re.search(r'<Stream url="([^"]*)"', twiml)
        assert found is not None
        return found[1]

    async def connect(self) -> Self:
        """Open the WebSocket."""
        self._session = aiohttp.ClientSession()
        self.socket = await self._session.ws_connect(self.url, autoclose=True)
        self._listening = asyncio.create_task(self._listen())
        await self.send("connected", protocol="Call", version="1.0.0")
        return self

    async def answer(self, account_sid: str = ACCOUNT_SID) -> Self:
        """Answer, and begin the stream."""
        self._sim.move(self._sid, "in-progress")
        await self.connect()
        await self.start(account_sid)
        return self

    async def start(self, account_sid: str = ACCOUNT_SID, rate: int = 8000) -> None:
        """Tell of the stream."""
        sound = {"encoding": "audio/x-mulaw", "sampleRate": rate, "channels": 1}
        await self.send("start", start={
            "accountSid": account_sid, "streamSid": STREAM_SID, "callSid": self._sid,
            "tracks": ["inbound"], "mediaFormat": sound, "customParameters": {},
        })  # fmt: skip

    async def send(self, event: str, **more: Any) -> None:
        """Send a message."""
        self._sequence += 1
        number = str(self._sequence)
        message = {"event": event, "sequenceNumber": number, "streamSid": STREAM_SID, **more}
        await self.socket.send_str(json.dumps(message))

    async def say(self, sound: bytes) -> None:
        """Send sound of mu-law, in frames."""
        for start in range(0, len(sound), 160):
            payload = base64.b64encode(sound[start : start + 160]).decode()
            await self.send("media", media={"track": "inbound", "chunk": "1", "timestamp": "5",
                                            "payload": payload})  # fmt: skip

    async def press(self, key: str) -> None:
        """Press a key."""
        await self.send("dtmf", dtmf={"track": "inbound_track", "digit": key})

    async def hang_up(self) -> None:
        """Hang up: the stream stops, and the call is completed."""
        self._sim.move(self._sid, "completed")
        await self.send("stop", stop={"accountSid": ACCOUNT_SID, "callSid": self._sid})

    async def give_back(self) -> None:
        """Give back the marks that were held."""
        for name in self.marks:
            await self.send("mark", mark={"name": name})

    async def _listen(self) -> None:
        async for message in self.socket:
            told = json.loads(message.data)
            assert told["streamSid"] == STREAM_SID
            match told["event"]:
                case "media":
                    self.played += base64.b64decode(told["media"]["payload"], validate=True)
                case "mark":
                    self.marks.append(told["mark"]["name"])
                    if not self.is_holding_marks:
                        await self.send("mark", mark=told["mark"])
                case "clear":
                    self.clears += 1
                case other:
                    raise ValueError(other)
            self.changed.set()
        self.closed_by = self.socket.close_code
        # A call ends with its stream.
        self._sim.move(self._sid, "completed")

    async def ended(self) -> None:
        """Wait until the stream is over."""
        assert self._listening is not None
        await self._listening

    async def close(self) -> None:
        """Leave."""
        if self._session is not None:
            await self.socket.close()
            await self._session.close()
        if self._listening is not None:
            await asyncio.gather(self._listening, return_exceptions=True)
