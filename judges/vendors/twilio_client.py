"""Twilio's own client against the simulator: calls, and the signatures of callbacks."""

import sys
from pathlib import Path

from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

OWN, CUSTOMER = "+14155550100", "+2348012345678"


class ToSimulator(TwilioHttpClient):
    """Sends everything to another address than the one that is fixed in the client."""

    def __init__(self, root):
        super().__init__()
        self._root = root

    def request(self, method, url, *args, **more):
        """Send one request."""
        path = url.split("://", 1)[1].partition("/")[2]
        return super().request(method, f"{self._root}/{path}", *args, **more)


def use_calls(root, account_sid, token):
    """Make calls, look them up, list and end them."""
    client = Client(account_sid, token, http_client=ToSimulator(root))
    made = client.calls.create(
        to=CUSTOMER, from_=OWN, twiml="<Response/>", timeout=30, time_limit=300,
        status_callback="https://till.example.com/hooks/twilio/1?attempt=2",
        status_callback_event=["initiated", "ringing", "answered", "completed"],
    )  # fmt: skip
    assert (made.status, made.to, made.direction) == ("queued", CUSTOMER, "outbound-api"), made
    assert made.date_created is not None
    fetched = client.calls(made.sid).fetch()
    assert (fetched.sid, fetched.duration) == (made.sid, None)
    assert set(fetched.subresource_uris) >= {"recordings", "streams", "events"}
    other = client.calls.create(to=CUSTOMER, from_=OWN, twiml="<Response/>")
    listed = client.calls.list(to=CUSTOMER, from_=OWN, limit=5)
    assert [one.sid for one in listed] == [other.sid, made.sid], listed
    assert client.calls(made.sid).update(status="canceled").status == "canceled"
    refuses(21220, lambda: client.calls(made.sid).update(status="completed"))
    refuses(20404, lambda: client.calls("CA" + "0" * 32).fetch())
    refuses(21211, lambda: client.calls.create(to="+1", from_=OWN, twiml="<Response/>"))


def refuses(code, ask):
    """The simulator refuses this with this code."""
    told = None
    try:
        ask()
    except TwilioRestException as error:
        told = error.code
    assert told == code, told


def check_callbacks(token, folder):
    """Every callback that the simulator signed is Twilio's, and no other is."""
    good, bad = RequestValidator(token), RequestValidator("another")
    files = sorted(Path(folder).iterdir())
    assert files
    for file in files:
        url, signature, body = file.read_bytes().decode().split("\n")
        fields = dict(pair.split("\t", 1) for pair in body.split("\r"))
        assert good.validate(url, fields, signature), url
        assert not bad.validate(url, fields, signature), url
        assert not good.validate(url + "1", fields, signature), url
    return len(files)


step, *rest = sys.argv[1:]
if step == "calls":
    use_calls(*rest)
    print("twilio calls: fine")
else:
    print(f"twilio callbacks: {check_callbacks(*rest)} signatures agree")
