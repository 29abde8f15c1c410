"""Twilio's REST API as far as calls need it (2010-04-01).

Creating a call is never repeated: Twilio promises no idempotency. When its answer is lost, the
calls to that number are listed.
"""

import base64
from collections.abc import Sequence
from datetime import timedelta
from typing import Literal
from urllib.parse import quote, urlencode

import msgspec

from tillhouse.providers.payments.calling import Caller, ProviderAnswer, ProviderRequest
from tillhouse.providers.payments.provider import NotReached
from tillhouse.providers.telephony.sip.results import read_pause
from tillhouse.providers.telephony.twilio.answers import CallPage, SeenCall, TwilioRefusal

BASE_URL = "https://api.twilio.com"
TIMEOUT_S = 10.0
_PAGE = 50
_TOO_MANY, _TIMED_OUT = 429, 408
_FORM = "application/x-www-form-urlencoded"
_WORDS_LENGTH_MAX = 200


class Denied(Exception):
    """Twilio refuses, and executed nothing."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code, self.words = code, words


class TooMany(Exception):
    """Twilio has too much to do for this account, and executed nothing."""

    def __init__(self, pause: timedelta | None) -> None:
        super().__init__("too many requests")
        self.pause = pause


class TwilioAccount(msgspec.Struct, frozen=True):
    """An account at Twilio."""

    account_sid: str
    auth_token: str

    def __repr__(self) -> str:
        """Keep the token out of logs and tracebacks."""
        return "Credentials(…)"


class TwilioCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call to be made."""

    to: str
    from_number: str
    twiml: str
    ring_s: int
    talk_s: int
    # Callbacks go there; None: there are none.
    callback: str | None = None
    detects_machines: bool = False

    def form(self) -> list[tuple[str, str]]:
        """Its fields as Twilio wants them."""
        fields = [
            ("To", self.to), ("From", self.from_number), ("Twiml", self.twiml),
            ("Timeout", str(self.ring_s)), ("TimeLimit", str(self.talk_s)),
        ]  # fmt: skip
        if self.callback is not None:
            fields += [("StatusCallback", self.callback), ("StatusCallbackMethod", "POST")]
            fields += [("StatusCallbackEvent", event) for event in _EVENTS]
        if self.detects_machines:
            fields.append(("MachineDetection", "Enable"))
        return fields


_EVENTS = ("initiated", "ringing", "answered", "completed")


class Rest:
    """Calls Twilio's API at one address."""

    def __init__(self, base_url: str = BASE_URL, timeout_s: float = TIMEOUT_S) -> None:
        self._caller = Caller(base_url, timeout_s)

    async def create(self, credentials: TwilioAccount, call: TwilioCall) -> SeenCall:
        """Make a call, which is asked for once: `Unclear` tells that it may be under way."""
        return (await self._ask(credentials, "Calls.json", call.form())).read(SeenCall)

    async def end(
        self, credentials: TwilioAccount, sid: str, status: Literal["canceled", "completed"]
    ) -> SeenCall:
        """Take a call back, or hang it up."""
        return (await self._ask(credentials, _path(sid), [("Status", status)])).read(SeenCall)

    async def fetch(self, credentials: TwilioAccount, sid: str) -> SeenCall:
        """One call."""
        return (await self._ask(credentials, _path(sid))).read(SeenCall)

    async def find(
        self, credentials: TwilioAccount, *, to: str, from_number: str
    ) -> Sequence[SeenCall]:
        """The latest calls from one number to another, those that don't ring yet too.

        Twilio's filter by StartTime leaves out calls that wait to be dialled, so there is none.
        """
        query = urlencode({"To": to, "From": from_number, "PageSize": str(_PAGE)})
        return (await self._ask(credentials, f"Calls.json?{query}")).read(CallPage).calls

    async def _ask(
        self, credentials: TwilioAccount, path: str, form: Sequence[tuple[str, str]] = ()
    ) -> ProviderAnswer:
        """Send a form, or none: then nothing changes."""
        url = f"/2010-04-01/Accounts/{quote(credentials.account_sid, safe='')}/{path}"
        pair = f"{credentials.account_sid}:{credentials.auth_token}".encode()
        headers = {"authorization": f"Basic {base64.b64encode(pair).decode()}"}
        ask = ProviderRequest(path=url, headers=headers)
        if form:
            ask = ProviderRequest(
                path=url, headers={**headers, "content-type": _FORM}, method="POST",
                body=urlencode(form).encode(), changes=True,
            )  # fmt: skip
        return _settle(await self._caller.call(ask))


def _path(sid: str) -> str:
    return f"Calls/{quote(sid, safe='')}.json"


def _settle(answer: ProviderAnswer) -> ProviderAnswer:
    """A good answer; any other raises."""
    if answer.status in range(200, 300):
        return answer
    if answer.status == _TOO_MANY:
        raise TooMany(read_pause(answer.retry_after))
    if answer.status not in range(400, 500) or answer.status == _TIMED_OUT:
        raise answer.lost("no answer of an API")
    try:
        words = msgspec.json.decode(answer.body, type=TwilioRefusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Something in between refuses, so Twilio never heard of it.
        raise NotReached(f"http_{answer.status}") from None
    raise Denied(words.code, f"{words.code} {words.message}"[:_WORDS_LENGTH_MAX])
