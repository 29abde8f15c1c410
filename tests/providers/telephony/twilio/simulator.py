"""Twilio in this process: calls by its REST API, and callbacks that it signs.

sim = await TwilioSimulator().start()               # with sim.account
rest = Rest(sim.base_url)
sim.move(sid, "ringing")                            # a call goes on, and a callback waits
await sim.tell()                                    # the callbacks are sent, in order
sim.fail_next("500 after", "POST *Calls.json")      # as of every simulator
sim.fail_hooks("twice", "reordered")
"""

import base64
import hashlib
import hmac
import itertools
import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

import aiohttp
from aiohttp import web

from tests.providers.payments.simulators.simulator import Handler, Json, Simulator
from tillhouse.providers.telephony.twilio.rest import TwilioAccount

ACCOUNT_SID = "AC" + "5e" * 16
AUTH_TOKEN = "token-of-a-simulator"
OWN_NUMBER = "+14155550100"
CUSTOMER = "+2348012345678"
FORBIDDEN = "+8821234567"
_E164 = re.compile(r"\+[1-9]\d{7,14}")
_FINAL = ("completed", "busy", "no-answer", "canceled", "failed")
_FORM = "application/x-www-form-urlencoded"
_PREFIX = f"/2010-04-01/Accounts/{ACCOUNT_SID}"


class Callback:
    """A callback that waits to be sent."""

    def __init__(self, url: str, body: bytes, token: str = AUTH_TOKEN) -> None:
        self.url, self.body = url, body
        pairs = sorted(parse_qsl(body.decode(), keep_blank_values=True))
        text = url + "".join(name + value for name, value in pairs)
        digest = hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()
        self.headers = {
            "content-type": _FORM,
            "x-twilio-signature": base64.b64encode(digest).decode(),
        }


class TwilioSimulator(Simulator):
    """Twilio's API with one account, which owns one number."""

    account = TwilioAccount(ACCOUNT_SID, AUTH_TOKEN)

    def __init__(self) -> None:
        super().__init__()
        # By their sids, the oldest first.
        self.calls: dict[str, Json] = {}
        self.forms: dict[str, list[tuple[str, str]]] = {}
        self.callbacks: list[Callback] = []
        self._sequences: dict[str, Any] = {}

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the routes of calls."""
        for method, path, handler in (
            ("POST", f"{_PREFIX}/Calls.json", self._create),
            ("GET", f"{_PREFIX}/Calls.json", self._list),
            ("GET", f"{_PREFIX}/Calls/{{sid}}.json", self._fetch),
            ("POST", f"{_PREFIX}/Calls/{{sid}}.json", self._update),
        ):
            router.add_route(method, path, _authorized(handler))

    # The things that happen to calls.

    def move(self, sid: str, status: str, **more: str) -> None:
        """Let a call come to a status, and have a callback of it."""
        call = self.calls[sid]
        if call["status"] in _FINAL:
            return
        call["status"] = status
        now = _rfc2822()
        call["date_updated"] = now
        if status == "in-progress":
            call["start_time"] = now
        if status in _FINAL:
            call |= {"end_time": now, "duration": "0" if status != "completed" else "7"}
            call |= {"price": "-0.01400", "price_unit": "USD"}
        self._queue(sid, **more)

    def announce(self, sid: str, status: str, **more: str) -> None:
        """Have a callback of a status that the API doesn't show yet."""
        self._queue(sid, CallStatus=status, **more)

    def _queue(self, sid: str, **more: str) -> None:
        form = dict(self.forms[sid])
        if "StatusCallback" not in form:
            return
        call = self.calls[sid]
        sequence = next(self._sequences.setdefault(sid, itertools.count()))
        fields = {
            "CallSid": sid, "AccountSid": ACCOUNT_SID, "From": call["from"], "To": call["to"],
            "CallStatus": call["status"], "Direction": "outbound-api", "ApiVersion": "2010-04-01",
            "CallbackSource": "call-progress-events", "SequenceNumber": str(sequence),
            "Timestamp": _rfc2822(), **more,
        }  # fmt: skip
        self.callbacks.append(Callback(form["StatusCallback"], urlencode(fields).encode()))

    async def tell(self) -> list[int]:
        """Send the callbacks that wait, as the faults want it; the statuses that came back."""
        async with aiohttp.ClientSession() as session:
            return [await self._send(session, one) for one in self.spoilt()]

    def spoilt(self) -> list[Callback]:
        """Take the callbacks that wait, as the faults want it."""
        waiting, self.callbacks = self.callbacks, []
        faults, self._hook_faults = self._hook_faults, []
        for fault in faults:
            match fault:
                case "lost":
                    waiting = []
                case "twice":
                    waiting = [one for one in waiting for _ in range(2)]
                case "reordered":
                    waiting = waiting[::-1]
                case "forged":
                    waiting = [Callback(one.url, one.body, "another-token") for one in waiting]
                case _:
                    raise NotImplementedError(fault)
        return waiting

    async def _send(self, session: aiohttp.ClientSession, callback: Callback) -> int:
        async with session.post(
            callback.url, data=callback.body, headers=callback.headers
        ) as answer:
            return answer.status

    # The answers to requests.

    async def _create(self, request: web.Request) -> web.Response:
        form = parse_qsl((await request.read()).decode(), keep_blank_values=True)
        given = dict(form)
        refusal = _refusal_of(given)
        if refusal is not None:
            return refusal
        sid = f"CA{self.next_id():032x}"
        self.forms[sid] = form
        self.calls[sid] = _call(sid, given["To"], given["From"])
        self._queue(sid, CallStatus="initiated")
        return web.json_response(self.calls[sid], status=201)

    async def _list(self, request: web.Request) -> web.Response:
        wanted = request.query
        found = [
            call for call in reversed(self.calls.values())
            if all(call[name.lower()] == wanted[name] for name in ("To", "From") if name in wanted)
        ]  # fmt: skip
        size = int(wanted.get("PageSize", 50))
        uri = request.rel_url.path_qs
        return web.json_response(
            {"calls": found[:size], "page": 0, "page_size": size, "start": 0, "uri": uri,
             "end": max(0, min(size, len(found)) - 1), "first_page_uri": uri,
             "next_page_uri": None, "previous_page_uri": None}
        )  # fmt: skip

    async def _fetch(self, request: web.Request) -> web.Response:
        call = self.calls.get(request.match_info["sid"])
        return _missing(request) if call is None else web.json_response(call)

    async def _update(self, request: web.Request) -> web.Response:
        sid = request.match_info["sid"]
        call = self.calls.get(sid)
        if call is None:
            return _missing(request)
        status = dict(parse_qsl((await request.read()).decode())).get("Status")
        if call["status"] in _FINAL:
            return _refusal(21220, "Call is not in-progress. Cannot redirect.", 400)
        if status == "canceled" and call["status"] in ("queued", "initiated", "ringing"):
            self.hung_up(sid, "canceled")
        elif status == "completed":
            is_answered = call["status"] == "in-progress"
            self.hung_up(sid, "completed" if is_answered else "canceled")
        return web.json_response(call)

    def hung_up(self, sid: str, status: str) -> None:
        """End a call as the API was asked to."""
        self.move(sid, status)


def _authorized(handler: Handler) -> Handler:
    async def check(request: web.Request) -> web.Response:
        pair = f"{ACCOUNT_SID}:{AUTH_TOKEN}".encode()
        if request.headers.get("authorization") != f"Basic {base64.b64encode(pair).decode()}":
            return _refusal(20003, "Authenticate", 401)
        return await handler(request)

    return check


def _refusal_of(given: dict[str, str]) -> web.Response | None:
    to = given.get("To", "")
    if not to:
        return _refusal(21201, "No 'To' number is specified", 400)
    if not _E164.fullmatch(to):
        return _refusal(21211, f"The phone number you are attempting to call, {to}, is not valid.")
    if to == FORBIDDEN:
        return _refusal(21215, f"Account not authorized to call {to}.")
    if given.get("From") != OWN_NUMBER:
        return _refusal(21210, f"The source phone number provided, {given.get('From')}, is not yet "
                        "verified for your account.")  # fmt: skip
    if not any(name in given for name in ("Url", "Twiml", "ApplicationSid")):
        return _refusal(21205, "Url parameter is required")
    return None


def _refusal(code: int, message: str, status: int = 400) -> web.Response:
    more = f"https://www.twilio.com/docs/errors/{code}"
    body = {"code": code, "message": message, "more_info": more, "status": status}
    return web.json_response(body, status=status)


def _missing(request: web.Request) -> web.Response:
    return _refusal(20404, f"The requested resource {request.path} was not found", 404)


def _rfc2822() -> str:
    return format_datetime(datetime.now(UTC))


def _call(sid: str, to: str, from_number: str) -> Json:
    """A new call in the form of the published description."""
    uri = f"{_PREFIX}/Calls/{sid}"
    parts = ("events", "notifications", "payments", "recordings", "siprec", "streams",
             "transcriptions", "user_defined_messages",
             "user_defined_message_subscriptions")  # fmt: skip
    return {
        "sid": sid, "account_sid": ACCOUNT_SID, "to": to, "from": from_number,
        "to_formatted": to, "from_formatted": from_number, "status": "queued",
        "direction": "outbound-api", "api_version": "2010-04-01", "answered_by": None,
        "caller_name": None, "forwarded_from": None, "group_sid": None, "parent_call_sid": None,
        "phone_number_sid": "PN" + "0a" * 16, "trunk_sid": "", "annotation": None,
        "date_created": _rfc2822(), "date_updated": None, "start_time": None, "end_time": None,
        "duration": None, "price": None, "price_unit": "USD", "queue_time": "0",
        "uri": f"{uri}.json",
        "subresource_uris": {
            part: f"{uri}/{part.title().replace('_', '')}.json" for part in parts
        },
    }  # fmt: skip
