"""The tree of refusals: drawn as it is, and each member says what to do."""

import re

import pytest

from tillhouse.kit import errors
from tillhouse.kit.errors import (
    Conflict,
    FieldError,
    Forbidden,
    Invalid,
    Limited,
    LimitReached,
    Missing,
    Problem,
    Unavailable,
    WrongMethod,
)


def family(kind: type[Problem]) -> list[type[Problem]]:
    """List the classes of this module below one, depth first."""
    children = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [member for child in children for member in (child, *family(child))]


def test_the_drawing_shows_every_class_with_its_kind_and_code() -> None:
    """The docstring is the map; a class that isn't on it is lost."""
    drawn = re.findall(r"[├└]── (\w+) +(\w+) +(\w+)", errors.__doc__ or "")
    assert sorted(drawn) == sorted((m.__name__, m.kind, m.code) for m in family(Problem))


@pytest.mark.parametrize("member", family(Problem))
def test_every_refusal_has_a_message_of_its_own(member: type[Problem]) -> None:
    """No refusal falls back to the root's empty sentence."""
    assert member.message != Problem.message


def test_invalid_gathers_every_wrong_field() -> None:
    """Details come as a list, as keywords, or as one field with an odd name."""
    listed = Invalid([FieldError("a", "one")], b="two")
    assert listed.details == [FieldError("a", "one"), FieldError("b", "two")]
    assert Invalid.field("items[0].name", "three").details == [FieldError("items[0].name", "three")]
    assert str(listed).endswith("(a: one; b: two)")
    assert Invalid(message="empty").details == [FieldError("message", "empty")]


def test_a_refusal_says_more_where_more_is_known() -> None:
    """Message and code can be given when raising, without changing the class."""
    assert Missing().message == str(Missing()) != Missing("No such tag.").message
    assert Missing().details is None
    problem = Conflict("Only drafts can be deleted.", code="order_not_deletable")
    assert (problem.code, problem.message) == ("order_not_deletable", "Only drafts can be deleted.")
    assert Conflict.code == "request_failed"
    assert isinstance(LimitReached(), Conflict)


def test_a_feature_names_its_own_refusal_in_the_class_line() -> None:
    """An attribute that isn't named is inherited."""

    class Closed(Forbidden, message="The table is closed."):
        """A table that takes no more orders."""

    class Full(Conflict, code="table_full"):
        """A table without a free seat."""

    assert (Full.kind, Full.code, Full.message) == ("conflict", "table_full", Conflict.message)
    assert (Closed().kind, Closed().code, Closed().message) == (
        "forbidden",
        "forbidden",
        "The table is closed.",
    )


def test_what_the_caller_needs_to_go_on_is_carried_along() -> None:
    """Waiting times and methods are for the headers of the answer."""
    assert Limited(0.25).retry_after_s == 0.25
    assert Unavailable().retry_after_s > 0
    assert WrongMethod(["GET", "POST"]).allowed == ("GET", "POST")
    assert "GET or POST" in WrongMethod(["GET", "POST"]).message
