"""Transactions (RFC 3261, section 17): repetitions until an answer, and their bounds."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from tillhouse.providers.telephony.sip.message import Request, Response
from tillhouse.providers.telephony.sip.wire import Wire


class SipTiming(msgspec.Struct, frozen=True, kw_only=True):
    """All in seconds."""

    # The time there and back; the longest pause between repetitions.
    t1: float = 0.5
    t2: float = 4.0
    # Without RTP for so long a call is over, unless it is held.
    media_lost: float = 20.0

    @property
    def transaction(self) -> float:
        """Timers B, D, F, H, L and M: for so long a transaction lasts."""
        return 64 * self.t1


REAL = SipTiming()


_ANSWERS_MAX = 64


class ClientTransaction:
    """One request of ours, repeated until somebody answers (timers A, B, E and F).

    A final answer other than 2xx to an INVITE is acknowledged here, each time that it comes
    (timer D). Each 2xx is handed on, also when it comes again.
    """

    def __init__(
        self,
        wire: Wire,
        request: bytes,
        timing: SipTiming,
        *,
        is_invite: bool,
        respond: Callable[[Response], None],
        fail: Callable[[str], None],
    ) -> None:
        self._wire, self._request, self._timing = wire, request, timing
        self._is_invite = is_invite
        self._respond, self._fail = respond, fail
        self._loop = asyncio.get_running_loop()
        self._pause = timing.t1
        self.is_proceeding = False
        self.is_over = False
        self._final: int | None = None
        self._acknowledgement: bytes | None = None
        self._repeating = self._loop.call_later(self._pause, self._repeat)
        self._expiring = self._loop.call_later(timing.transaction, self._end, "no response")
        wire.listeners.add(self._refused)
        wire.send(request)

    def receive(self, response: Response, acknowledge: Callable[[Response], bytes]) -> None:
        """Take a response with our branch."""
        if self._final is not None:
            self._receive_again(response)
        elif response.is_provisional:
            self._proceed()
            self._respond(response)
        else:
            self._final = response.status
            self._quiet()
            if self._is_invite and response.status >= 300:
                self._acknowledgement = acknowledge(response)
                self._wire.send(self._acknowledgement)
            self._respond(response)

    def _receive_again(self, response: Response) -> None:
        if response.is_provisional:
            return
        if self._acknowledgement is not None:
            self._wire.send(self._acknowledgement)
        elif self._is_invite and response.status < 300:
            self._respond(response)

    def _proceed(self) -> None:
        self.is_proceeding = True
        if self._is_invite:
            # From now on it is a question of patience, not of the network.
            self._quiet()
        else:
            self._pause = self._timing.t2

    def _quiet(self) -> None:
        self.is_over = self._final is not None
        self._repeating.cancel()
        self._expiring.cancel()
        self._wire.listeners.discard(self._refused)

    def _repeat(self) -> None:
        self._wire.send(self._request)
        longest = self._timing.transaction if self._is_invite else self._timing.t2
        self._pause = min(2 * self._pause, longest)
        self._repeating = self._loop.call_later(self._pause, self._repeat)

    def _refused(self) -> None:
        self._end("port closed")

    def _end(self, why: str) -> None:
        if not self.is_over and self._final is None:
            self.close()
            self._fail(why)

    def close(self) -> None:
        """Repeat nothing any more."""
        self._quiet()
        self.is_over = True


class Acknowledged:
    """A final response to an INVITE, repeated until its ACK comes (timers G and H)."""

    def __init__(
        self, send: Callable[[], None], timing: SipTiming, give_up: Callable[[], None]
    ) -> None:
        self._send, self._timing, self._give_up = send, timing, give_up
        self._loop = asyncio.get_running_loop()
        self._pause = timing.t1
        self._repeating = self._loop.call_later(self._pause, self._repeat)
        self._expiring = self._loop.call_later(timing.transaction, self._expire)
        send()

    def _repeat(self) -> None:
        self._send()
        self._pause = min(2 * self._pause, self._timing.t2)
        self._repeating = self._loop.call_later(self._pause, self._repeat)

    def _expire(self) -> None:
        self.stop()
        self._give_up()

    def stop(self) -> None:
        """The ACK came."""
        self._repeating.cancel()
        self._expiring.cancel()


class KeptAnswers:
    """Our last answers, which the repetition of a request gets again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, int], bytes] = OrderedDict()

    def find(self, request: Request) -> bytes | None:
        """The answer that this very request got already."""
        return self._kept.get(_key(request))

    def keep(self, request: Request, answer: bytes) -> None:
        """Remember an answer; of too many the oldest is forgotten."""
        self._kept[_key(request)] = answer
        if len(self._kept) > _ANSWERS_MAX:
            self._kept.popitem(last=False)


def _key(request: Request) -> tuple[str, str, int]:
    return request.via.branch, request.method, request.cseq
