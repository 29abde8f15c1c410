"""The part of an adapter that is the same at every provider: how refusals and hooks are read."""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from tillhouse.providers.payments.calling import BadKey, ProviderAnswer
from tillhouse.providers.payments.exponents import NotExact
from tillhouse.providers.payments.provider import (
    Heard,
    NotReached,
    ProviderRefused,
    ProviderSecrets,
    SeenPayout,
    Unclear,
    Unknown,
)

T = TypeVar("T")


class Hook(msgspec.Struct):
    """A hook, as far as it tells what to look up."""

    def heard(self) -> Sequence[Heard]:
        """The things that it tells of; none where it tells of nothing known."""
        raise NotImplementedError


class Adapter(ABC):
    """A provider's API, as far as its refusals and hooks are read alike everywhere."""

    hook: type[Hook]

    @abstractmethod
    async def _get(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        """Read something."""

    @abstractmethod
    async def find_payout(self, credentials: ProviderSecrets, reference: str) -> SeenPayout:
        """A payout by our reference."""

    def _is_missing(self, said: str) -> bool:
        """Whether a refusal says that there is no such thing, where its status doesn't."""
        return False

    def _is_for_later(self, said: str) -> bool:
        """Whether a refusal of a payout holds for a moment only."""
        return False

    def heard(self, body: bytes) -> Sequence[Heard]:
        """The things that a hook tells of; none of a body that isn't one."""
        try:
            return msgspec.json.decode(body, type=self.hook).heard()
        except (msgspec.DecodeError, UnicodeDecodeError):
            return []

    async def _look(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        """Look something up: only that it is unknown is an answer, any other refusal is none."""
        try:
            return await self._get(credentials, path)
        except ProviderRefused as refusal:
            if not isinstance(refusal, BadKey) and self._is_missing(str(refusal)):
                raise Unknown(str(refusal)) from None
            raise NotReached(str(refusal)) from None

    async def _sent(
        self, credentials: ProviderSecrets, reference: str, sending: Awaitable[SeenPayout]
    ) -> SeenPayout:
        """The payout that is sent, or the one that took its reference before."""
        return await self._done(sending, lambda: self.find_payout(credentials, reference))

    async def _done(self, doing: Awaitable[T], find: Callable[[], Awaitable[T]]) -> T:
        """The result of a change, or the one that took its reference before.

        A refusal of a reference that nothing has is final.
        """
        try:
            return await doing
        except BadKey as error:
            raise NotReached(str(error)) from None
        except ProviderRefused as refusal:
            try:
                return await find()
            except Unknown:
                if self._is_for_later(str(refusal)):
                    raise NotReached(str(refusal)) from None
                raise refusal from None
            except NotReached as error:
                raise Unclear(str(error)) from None


def check_start(secret: str, title: str, *starts: str) -> None:
    """Refuse a secret of the other environment, by its beginning."""
    if not secret.startswith(starts):
        raise ProviderRefused(f"The {title} of this book begins with {' or '.join(starts)}.")


def exactly(write: Callable[[], T]) -> T:
    """An amount as the provider writes it; one that it can't write is refused."""
    try:
        return write()
    except NotExact as error:
        raise ProviderRefused(str(error)) from None


async def read_from(asking: Awaitable[ProviderAnswer], read: Callable[[ProviderAnswer], T]) -> T:
    """The thing that an answer is about."""
    return read(await asking)


async def beside(asking: Awaitable[T]) -> T:
    """The answer to a question on the way to another: if it knows nothing, that says nothing."""
    try:
        return await asking
    except Unknown as error:
        raise NotReached(str(error)) from None


async def executed(asking: Awaitable[ProviderAnswer]) -> ProviderAnswer:
    """The answer to a change; where the credentials are refused nothing was executed."""
    try:
        return await asking
    except BadKey as error:
        raise NotReached(str(error)) from None


def has_sha512(headers: Mapping[str, str], name: str, key: str, body: bytes) -> bool:
    """Whether a header bears the body's HMAC in SHA-512 under this key."""
    expected = hmac.new(key.encode(), body, hashlib.sha512).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get(name, "").encode())
