"""Answers whose subject is their member `data`, as Paystack and Flutterwave give them."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Generic, TypeVar

import msgspec

from tillhouse.kit.clock import parse_timestamp
from tillhouse.providers.payments.calling import ProviderAnswer

T = TypeVar("T")
S = TypeVar("S")
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class _Data(msgspec.Struct, Generic[T]):
    data: T


class Named(msgspec.Struct):
    """An account, by its holder."""

    account_name: Text


def data(answer: ProviderAnswer, kind: type[T]) -> T:
    """The subject of an answer."""
    return answer.read(_Data[kind]).data


def one(answer: ProviderAnswer, kind: type[T], convert: Callable[[T], S]) -> S:
    """The subject of an answer, whose amounts must be exact."""
    told = data(answer, kind)
    return answer.exactly(lambda: convert(told))


def each(
    answer: ProviderAnswer,
    kind: type[T],
    convert: Callable[[T], S],
    fits: Callable[[T], bool] = lambda _: True,
) -> Sequence[S]:
    """Those lines of a list that fit, whose amounts must be exact."""
    told = data(answer, list[kind])
    return answer.exactly(lambda: [convert(line) for line in told if fits(line)])


def account_name(answer: ProviderAnswer) -> str:
    """The name of an account's holder."""
    return data(answer, Named).account_name


def moment(text: str | None) -> datetime | None:
    """A moment, if there is one in it: a payment is not doubted for its clock."""
    with contextlib.suppress(ValueError):
        return parse_timestamp(text or "")
    return None
