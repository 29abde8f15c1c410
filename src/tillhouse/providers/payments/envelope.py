"""Readers of answers, and the envelope `data` in which Paystack and Flutterwave give theirs."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Generic, Protocol, TypeVar

import msgspec

from tillhouse.kit.clock import parse_timestamp
from tillhouse.providers.payments.calling import ProviderAnswer

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


class _Data(msgspec.Struct, Generic[T]):
    data: T


class Named(msgspec.Struct):
    """An account, by its holder."""

    account_name: Text


def data(answer: ProviderAnswer, kind: type[T]) -> T:
    """The subject of an answer."""
    return answer.read(_Data[kind]).data


class Subject(Protocol):
    """Takes the subject out of an answer."""

    def __call__(self, answer: ProviderAnswer, kind: type[R], /) -> R:
        """The subject, as this type."""
        ...


def one(
    kind: type[T], convert: Callable[[T], S], subject: Subject = data
) -> Callable[[ProviderAnswer], S]:
    """A reader of answers about one thing, whose amounts must be exact."""

    def read(answer: ProviderAnswer) -> S:
        told = subject(answer, kind)
        return answer.exactly(lambda: convert(told))

    return read


def each(
    kind: type[T], convert: Callable[[T], S], fits: Callable[[T], bool] = lambda _: True
) -> Callable[[ProviderAnswer], Sequence[S]]:
    """A reader of lists: those lines that fit, whose amounts must be exact."""
    return one(list[kind], lambda lines: [convert(line) for line in lines if fits(line)])


def words_of(kind: type[T], told: Callable[[T], str]) -> Callable[[bytes], str | None]:
    """A reader of a provider's own words in a refusal; None when it is somebody else's."""

    def words(body: bytes) -> str | None:
        try:
            return told(msgspec.json.decode(body, type=kind))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    return words


def account_name(answer: ProviderAnswer) -> str:
    """The name of an account's holder."""
    return data(answer, Named).account_name


def moment(text: str | None) -> datetime | None:
    """A moment, if there is one in it: a payment is not doubted for its clock."""
    with contextlib.suppress(ValueError):
        return parse_timestamp(text or "")
    return None
