"""The end of a call by Twilio's word: a status, a code of its own, or one of SIP."""

from tillhouse.providers.telephony.provider import LineEnded, Result
from tillhouse.providers.telephony.sip import results as sip
from tillhouse.providers.telephony.twilio.answers import Status
from tillhouse.providers.telephony.twilio.rest import Denied, TooMany

_OF_CODE: dict[int, Result] = {
    # The account.
    10001: "trunk_auth",
    20003: "trunk_auth",
    20005: "trunk_auth",
    20008: "trunk_auth",
    # More calls at once than the account may have.
    10004: "provider_unavailable",
    20429: "provider_unavailable",
    # The number that is called.
    13223: "invalid_destination",
    13224: "invalid_destination",
    21201: "invalid_destination",
    21211: "invalid_destination",
    21214: "invalid_destination",
    21217: "invalid_destination",
    21401: "invalid_destination",
    21421: "invalid_destination",
    # The number that calls, and where it may call.
    13225: "forbidden",
    13226: "forbidden",
    13227: "forbidden",
    21210: "forbidden",
    21212: "forbidden",
    21213: "forbidden",
    21215: "forbidden",
    21216: "forbidden",
    21219: "forbidden",
    21606: "forbidden",
    # Sound or signalling.
    32009: "no_answer",
    32011: "network",
    32014: "no_answer",
}
_SIP_FAILURES = range(300, 700)


def denied(error: Denied) -> LineEnded:
    """The end of a call that Twilio refuses to make."""
    return sip.unanswered(_OF_CODE.get(error.code, "forbidden"), error.words)


def too_many(error: TooMany) -> LineEnded:
    """The end of a call for which Twilio has no time now."""
    return LineEnded(
        result="provider_unavailable", ended_by="provider", detail=str(error),
        retry_after=error.pause,
    )  # fmt: skip


def failed(error_code: int | None, sip_status: int | None, words: str = "") -> LineEnded:
    """The end of a call that failed, by the most exact of the told codes."""
    if sip_status is not None and sip_status in _SIP_FAILURES:
        return sip.of_status(sip_status, words)
    if error_code in _OF_CODE:
        return sip.unanswered(_OF_CODE[error_code], f"{error_code} {words}".strip())
    # Twilio says failed alone of a number that doesn't exist.
    told = f"{error_code} {words}".strip() if error_code is not None else "failed"
    return sip.unanswered("invalid_destination", told)


def unanswered(
    status: Status, *, error_code: int | None, sip_status: int | None, words: str
) -> LineEnded:
    """The end of an unanswered call, by its final status."""
    match status:
        case "busy":
            return sip.unanswered("busy", "busy", sip_status)
        case "no-answer":
            return sip.unanswered("no_answer", "nobody answered in time", sip_status)
        case "canceled":
            return LineEnded(result="cancelled", ended_by="provider", detail="taken back at Twilio")
        case _:
            return failed(error_code, sip_status, words)
