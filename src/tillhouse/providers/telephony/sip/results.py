"""The result of a call that wasn't answered, by the response that ended it."""

from datetime import timedelta

import msgspec

from tillhouse.providers.telephony.provider import EndedBy, LineEnded, Result
from tillhouse.providers.telephony.sip.message import Response

_DETAIL_LENGTH_MAX = 200
_RETRY_AFTER_S_MAX = 24 * 3600
_TIMED_OUT, _TERMINATED = 408, 487

_OF_STATUS: dict[int, Result] = {
    401: "trunk_auth",
    403: "forbidden",
    404: "invalid_destination",
    407: "trunk_auth",
    _TIMED_OUT: "no_answer",
    410: "invalid_destination",
    415: "codec",
    480: "no_answer",
    484: "invalid_destination",
    485: "invalid_destination",
    486: "busy",
    _TERMINATED: "no_answer",
    488: "codec",
    491: "provider_unavailable",
    600: "busy",
    603: "declined",
    604: "invalid_destination",
    606: "codec",
    607: "unwanted",
    608: "unwanted",
}
# By the first digit; where the others went, that a redirection names, isn't called.
_OF_CLASS: dict[int, Result] = {
    3: "invalid_destination",
    4: "forbidden",
    5: "provider_unavailable",
    6: "busy",
}
_BY_CUSTOMER: frozenset[Result] = frozenset({"busy", "no_answer", "declined", "unwanted"})
_TRIED_AGAIN: frozenset[Result] = frozenset({"busy", "no_answer", "provider_unavailable"})


def refused(response: Response) -> LineEnded:
    """The end that a final response of 3xx to 6xx stands for."""
    return of_status(response.status, response.reason, read_pause(response.first("retry-after")))


def of_status(status: int, words: str = "", retry_after: timedelta | None = None) -> LineEnded:
    """The end that a status of 300 to 699 stands for."""
    result = _OF_STATUS.get(status) or _OF_CLASS[status // 100]
    reason = "".join(filter(str.isprintable, words)).strip()[:_DETAIL_LENGTH_MAX]
    # Trunks refuse more calls than were paid for like this, and only their words tell.
    is_limit = result == "forbidden" and "limit" in reason.lower()
    ended = unanswered(result, f"{status} {reason}".strip(), status)
    return msgspec.structs.replace(
        ended, may_retry=ended.may_retry or is_limit, retry_after=retry_after
    )


def unanswered(result: Result, detail: str, sip_status: int | None = None) -> LineEnded:
    """The end of a call that nobody answered, and whether its result may be another next time."""
    by: EndedBy = "customer" if result in _BY_CUSTOMER else "provider"
    return LineEnded(
        result=result, ended_by=by, detail=detail, sip_status=sip_status,
        may_retry=result in _TRIED_AGAIN,
    )  # fmt: skip


def read_pause(header: str | None) -> timedelta | None:
    """The pause that Retry-After asks for: seconds, perhaps with a comment and parameters."""
    text = (header or "").split("(")[0].split(";")[0].strip()
    if not text.isdecimal() or len(text) > len(str(_RETRY_AFTER_S_MAX)):
        return None
    return timedelta(seconds=min(int(text), _RETRY_AFTER_S_MAX))


def not_reached(why: str, *, was_reached: bool) -> LineEnded:
    """The end when no response to the INVITE came, or no further one."""
    return LineEnded(result="network", ended_by="provider", detail=why, may_retry=not was_reached)
