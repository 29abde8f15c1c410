"""The request of one attempt, from the settings of its number."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID
from xml.sax.saxutils import quoteattr

import msgspec

from tillhouse.providers.telephony.provider import Dial
from tillhouse.providers.telephony.twilio.answers import SeenCall
from tillhouse.providers.telephony.twilio.rest import Rest, TwilioAccount, TwilioCall

# Twilio rings as long as it is asked to, 5 to 600 seconds, and talks for a day at most.
_RING_S = (5, 600)
_TALK_S = (1, 86_400)
# Two clocks and a slow request may be so far apart.
_EARLY, _LATE = timedelta(seconds=10), timedelta(seconds=90)


class TwilioPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt: the account, the call, and when it was decided."""

    credentials: TwilioAccount
    call: TwilioCall
    decided_at: datetime

    async def find(self, rest: Rest) -> Sequence[SeenCall]:
        """The calls at Twilio that can be this attempt's, by their numbers and their time."""
        found = await rest.find(
            self.credentials, to=self.call.to, from_number=self.call.from_number
        )
        return [one for one in found if self._is_then(one.created_at)]

    def _is_then(self, created_at: datetime | None) -> bool:
        if created_at is None:
            return True
        return self.decided_at - _EARLY <= created_at <= self.decided_at + _LATE


def plan(dial: Dial, stream_url: str) -> TwilioPlan | None:
    """The plan of an attempt; None where the settings of its number don't do."""
    settings = dial.account.settings
    account_sid, auth_token = settings.get("account_sid"), settings.get("auth_token")
    if not account_sid or not auth_token:
        return None
    return TwilioPlan(
        credentials=TwilioAccount(account_sid, auth_token),
        call=TwilioCall(
            to=dial.to,
            from_number=dial.from_number,
            twiml=connect(stream_url),
            ring_s=_whole(dial.ring_within, _RING_S),
            talk_s=_whole(dial.talk_within, _TALK_S),
            callback=dial.callback_url,
            detects_machines=settings.get("machine_detection") == "on",
        ),
        decided_at=decided_at(dial.attempt_id) or dial.clock.now(),
    )


def decided_at(attempt_id: UUID) -> datetime | None:
    """The time that an id of an attempt bears (RFC 9562, version 7)."""
    if attempt_id.version != 7:
        return None
    return datetime.fromtimestamp((attempt_id.int >> 80) / 1000, UTC)


def _whole(time: timedelta, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(round(time.total_seconds()), bounds[1]))


def connect(stream_url: str) -> str:
    """Both directions over one stream; the call ends with it."""
    return f"<Response><Connect><Stream url={quoteattr(stream_url)}/></Connect></Response>"
