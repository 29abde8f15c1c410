"""Calls of an API that takes its secret key as a bearer token, and JSON."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tillhouse.kit.json import encode
from tillhouse.providers.payments.calling import Caller, ProviderAnswer, ProviderRequest, settle
from tillhouse.providers.payments.provider import ProviderSecrets


class BearerApi(NamedTuple):
    """An API at one address."""

    caller: Caller
    # The vendor's own words in a refusal; None when it is somebody else's.
    words: Callable[[bytes], str | None]
    # The answer of a call that went well; any other raises.
    good: Callable[[ProviderAnswer], ProviderAnswer]

    async def get(self, credentials: ProviderSecrets, path: str) -> ProviderAnswer:
        """Read something."""
        return await self._call(ProviderRequest(path=path, headers=_headers(credentials)))

    async def post(
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
        return self.good(settle(await self.caller.call(ask), self.words))


def _headers(credentials: ProviderSecrets) -> dict[str, str]:
    return {"authorization": f"Bearer {credentials.secrets['secret_key']}"}
