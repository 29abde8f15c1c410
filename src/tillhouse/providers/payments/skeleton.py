"""The part of an adapter that is the same at every provider: how refusals are read."""

import hashlib
import hmac
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping

from tillhouse.providers.payments.calling import BadKey, ProviderAnswer
from tillhouse.providers.payments.provider import (
    NotReached,
    ProviderRefused,
    ProviderSecrets,
    SeenPayout,
    Unclear,
    Unknown,
)


class Adapter(ABC):
    """A provider's API, as far as its refusals are read alike everywhere."""

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
        """The payout that is sent, or the one that took its reference before.

        A refusal of a reference that no payout has is final.
        """
        try:
            return await sending
        except BadKey as error:
            raise NotReached(str(error)) from None
        except ProviderRefused as refusal:
            try:
                return await self.find_payout(credentials, reference)
            except Unknown:
                if self._is_for_later(str(refusal)):
                    raise NotReached(str(refusal)) from None
                raise refusal from None
            except NotReached as error:
                raise Unclear(str(error)) from None


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
