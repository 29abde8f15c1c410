"""The SIP telephone: calls softphones by their address, and numbers by a trunk."""

import asyncio
import contextlib
import secrets
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from tillhouse.providers.names import PATIENCE_S, LookUp, Names, literal, look_up
from tillhouse.providers.telephony.line_sound import EndedLine
from tillhouse.providers.telephony.provider import Capability, Dial, LineEnded
from tillhouse.providers.telephony.sip.line import SipLine
from tillhouse.providers.telephony.sip.media import RtpSession
from tillhouse.providers.telephony.sip.plan import NotPossible, SipPlan, plan
from tillhouse.providers.telephony.sip.results import not_reached
from tillhouse.providers.telephony.sip.transactions import REAL, SipTiming
from tillhouse.providers.telephony.sip.user_agent import UserAgent
from tillhouse.providers.telephony.sip.wire import WireCounts, open_media_socket
from tillhouse.providers.telephony.targets import PUBLIC, ForbiddenAddress, Targets

_QUIET_LOOK_S = 0.01


class SipTelephone:
    """Dials by SIP over UDP; all calls of a process share one."""

    name: Literal["sip"] = "sip"
    capabilities: frozenset[Capability] = frozenset({"audio", "sip_addresses"})

    def __init__(
        self, timing: SipTiming = REAL, targets: Targets = PUBLIC, ask: LookUp = look_up
    ) -> None:
        self._timing = timing
        # Threads of its own, so that a name server that hangs holds up its own names alone.
        self._names = Names(ask, PATIENCE_S)
        self._agent = UserAgent(timing, targets)
        self._lines: set[SipLine] = set()

    @property
    def counts(self) -> WireCounts:
        """Calls, packets, and the datagrams that were ignored."""
        return self._agent.counts

    def counted(self) -> Mapping[str, int]:
        """The same, by name."""
        return msgspec.structs.asdict(self._agent.counts)

    @property
    def open_lines(self) -> int:
        """The calls under way, those included that ended a moment ago."""
        return len(self._lines)

    @property
    def open_wires(self) -> int:
        """The peers that a socket is open to."""
        return self._agent.open_wires

    async def dial(self, dial: Dial) -> SipLine | EndedLine:
        """Begin an attempt."""
        try:
            planned = plan(dial, secrets.token_hex(8))
        except NotPossible as error:
            return EndedLine(error.ended)
        host, port = planned.hop
        addresses = await self._find(host, port)
        if not addresses:
            return EndedLine(_unreached(f"{host} has no address"))
        # The owner of a name that leads to a forbidden address can't be trusted with the others.
        if not all(map(self._agent.may_send_to, addresses)):
            return EndedLine(_forbidden(host))
        try:
            return self._begin(dial, planned, (addresses[0], port))
        except OSError as error:
            return EndedLine(_unreached(error.strerror or str(error)))

    async def _find(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host; none when it has none, or the lookup takes too long."""
        if literal(host, port) is not None:
            return [host]
        with contextlib.suppress(OSError, UnicodeError):
            return [str(address[0]) for _, address in await self._names.find(host, port)]
        return []

    def _begin(self, dial: Dial, planned: SipPlan, peer: tuple[str, int]) -> SipLine:
        wire = self._agent.wire_to(peer)
        try:
            opened = open_media_socket(wire.local[0], planned.media_ports)
        except OSError:
            self._agent.release(wire)
            raise
        media = RtpSession(opened, self._agent.counts, dial.recorder)
        line = SipLine(self._agent, dial, planned, wire, media, self._lines.discard)
        self._lines.add(line)
        self._agent.counts.calls += 1
        line.start()
        return line

    async def find_outcome(self, dial: Dial) -> LineEnded | None:
        """Unknown: the other side keeps no record of a call either."""
        return None

    async def close(self, within_s: float = 2.0) -> None:
        """End all calls, and free all ports."""
        for line in tuple(self._lines):
            line.end_now()
        deadline = asyncio.get_running_loop().time() + within_s
        while any(not line.is_quiet for line in self._lines):
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(_QUIET_LOOK_S)
        for line in tuple(self._lines):
            line.close()
        self._names.close()


def _forbidden(host: str) -> LineEnded:
    detail = f"{host} is {ForbiddenAddress()}"
    return LineEnded(
        result="provider_unavailable", ended_by="system", detail=detail, may_retry=False
    )


def _unreached(why: str) -> LineEnded:
    return not_reached(why, was_reached=False)
