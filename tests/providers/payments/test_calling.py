"""Calls: which answers mean which of the three failures."""

import pytest

from tillhouse.providers.payments.calling import Answer, BadKey, settle
from tillhouse.providers.payments.paystack_answers import words
from tillhouse.providers.payments.provider import NotReached, Refused, Unclear, Unknown

NO = b'{"status": false, "message": "No", "code": "a_code"}'


@pytest.mark.parametrize(
    ("status", "body", "of_a_question", "of_a_change"),
    [
        (400, NO, Refused, Refused),
        (401, NO, BadKey, BadKey),
        (403, NO, BadKey, BadKey),
        (404, NO, Unknown, Refused),
        (408, NO, NotReached, Unclear),
        (409, NO, Refused, Refused),
        (429, NO, NotReached, NotReached),
        # Something in between refuses: the provider never heard of it.
        (403, b"<html>", NotReached, NotReached),
        (404, b"", NotReached, NotReached),
        (413, b'{"error": "no"}', NotReached, NotReached),
        (101, b"", NotReached, Unclear),
        (302, NO, NotReached, Unclear),
        (500, NO, NotReached, Unclear),
        (502, b"", NotReached, Unclear),
        (503, NO, NotReached, Unclear),
        (599, NO, NotReached, Unclear),
    ],
)
def test_statuses(
    status: int, body: bytes, of_a_question: type[Exception], of_a_change: type[Exception]
) -> None:
    """A change that may have happened is never refused."""
    for changes, expected in ((False, of_a_question), (True, of_a_change)):
        with pytest.raises(Exception, match=r".*") as caught:
            settle(Answer(status, body, changes), words)
        assert type(caught.value) is expected
        if isinstance(caught.value, Refused):
            assert str(caught.value) == "a_code: No"


def test_a_long_refusal_is_cut() -> None:
    """Its words go into rows and pages."""
    body = b'{"status": false, "message": "' + b"x" * 100_000 + b'"}'
    with pytest.raises(Refused) as caught:
        settle(Answer(400, body, True), words)
    assert len(str(caught.value)) == 300
