"""An adapter of an API that takes its secret key as a bearer token, and tells lists by pages."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tillhouse.kit.json import encode
from tillhouse.providers.payments.calling import Caller, ProviderAnswer, ProviderRequest, settle
from tillhouse.providers.payments.provider import (
    NotReached,
    ProviderListPage,
    ProviderSecrets,
    StatementOf,
    StatementRequest,
)
from tillhouse.providers.payments.skeleton import Adapter, check_start

_PAGES_MAX = 20
Lines = Callable[[ProviderAnswer], Sequence[Any]]


class BearerAdapter(Adapter):
    """Moves money by an API at one address."""

    # The beginnings of live secret keys and of others.
    key_starts: tuple[str, str]
    balances: str
    # The path of each list, and how its lines are read.
    lists: Mapping[StatementOf, tuple[str, Lines]]

    def __init__(
        self,
        caller: Caller,
        words: Callable[[bytes], str | None],
        good: Callable[[ProviderAnswer], ProviderAnswer],
    ) -> None:
        """`words` and `good` read what each answer tells of the call itself."""
        self._caller, self._words, self._good = caller, words, good

    @abstractmethod
    def _has_more(self, answer: ProviderAnswer, page: int) -> bool:
        """Whether another page follows this one."""

    @abstractmethod
    def _span(self, asked: StatementRequest) -> Mapping[str, str]:
        """The time of a statement, as a query."""

    async def check(self, credentials: ProviderSecrets) -> None:
        """Ask for the balances."""
        live, test = self.key_starts
        start = live if credentials.is_live else test
        check_start(credentials.secrets["secret_key"], "secret key", start)
        await self._get(credentials, self.balances)

    async def read_statement(
        self, credentials: ProviderSecrets, asked: StatementRequest
    ) -> ProviderListPage:
        """A page of payments, payouts, refunds or disputes."""
        page = int(asked.cursor or 1)
        path, lines = self.lists[asked.of]
        query = urlencode({**self._span(asked), "page": str(page)})
        answer = await self._look(credentials, f"{path}?{query}")
        following = str(page + 1) if self._has_more(answer, page) else None
        return ProviderListPage(**{asked.of: lines(answer)}, following=following)

    async def _pages(
        self,
        credentials: ProviderSecrets,
        path: str,
        query: Mapping[str, str],
        *,
        proves: bool = True,
    ) -> AsyncIterator[ProviderAnswer]:
        """The pages of a list, the first ones.

        A list that is longer than is read proves nothing missing, and fails where it has to.
        """
        for page in range(1, _PAGES_MAX + 1):
            numbered = urlencode({**query, "page": str(page)})
            answer = await self._look(credentials, f"{path}?{numbered}")
            yield answer
            if not self._has_more(answer, page):
                return
        if proves:
            raise NotReached(f"the list of {path} is too long")

    async def _get(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        return await self._call(ProviderRequest(path=path, headers=_headers(credentials)))

    async def _post(
        self,
        credentials: ProviderSecrets,
        path: str,
        body: Mapping[str, object],
        *,
        changes: bool = True,
    ) -> ProviderAnswer:
        """Change something, or ask with a body."""
        headers = {**_headers(credentials), "content-type": "application/json"}
        sent = encode(body)
        return await self._call(
            ProviderRequest(path=path, headers=headers, method="POST", body=sent, changes=changes)
        )

    async def _call(self, ask: ProviderRequest) -> ProviderAnswer:
        return self._good(settle(await self._caller.call(ask), self._words))


def _headers(credentials: ProviderSecrets) -> dict[str, str]:
    return {"authorization": f"Bearer {credentials.secrets['secret_key']}"}
