"""Money that left by a provider, held against the rows that sent it: one pass, in two parts."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Hashable, Sequence
from typing import Generic, Literal, TypeVar
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.finance.reconciling.statements import read_pages
from tillhouse.finance.reconciling.types import FoundDifference, OwnPayout, OwnRefund, Side
from tillhouse.kit.ids import LOWEST_ID
from tillhouse.providers.payments.provider import ProviderListPage

PAGE = 500

Own = TypeVar("Own", OwnPayout, OwnRefund)
Name = TypeVar("Name", bound=Hashable)


class OutgoingCheck(ABC, Generic[Own, Name]):
    """One pass over the payouts, or the refunds, through one provider of a book."""

    of: Literal["payouts", "refunds"]

    def __init__(self, services: Services, side: Side) -> None:
        self._services = services
        self._side = side
        # Those that were compared, by our names of them.
        self._seen: set[Name] = set()

    async def run(self) -> AsyncIterator[FoundDifference]:
        """Compare the statement with our rows, then those that it doesn't tell of."""
        if not self._is_told():
            return
        async for page in read_pages(self._side, self.of):
            async for found in self._compare(page):
                yield found
        after = LOWEST_ID
        while own := await self._own(after):
            for one in own:
                if self._name(one) not in self._seen:
                    self._seen.add(self._name(one))
                    if (found := await self._look(one)) is not None:
                        yield found
            after = own[-1].id

    @abstractmethod
    def _is_told(self) -> bool:
        """Whether the provider moves such money."""

    @abstractmethod
    def _name(self, own: Own) -> Name:
        """Our name of one."""

    @abstractmethod
    async def _own(self, after: UUID) -> Sequence[Own]:
        """A page of our rows."""

    @abstractmethod
    def _compare(self, page: ProviderListPage) -> AsyncIterator[FoundDifference]:
        """Hold a page of the statement against our rows."""

    @abstractmethod
    async def _look(self, own: Own) -> FoundDifference | None:
        """Ask for one, and read our row once more."""
