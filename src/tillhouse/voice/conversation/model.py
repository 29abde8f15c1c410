"""A server of language models that speaks OpenAI's Chat Completions, asked one turn at a time."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tillhouse.outgoing.client import (
    AnswerLimits,
    Post,
    ServerAnswer,
    ServerClient,
    Unanswered,
)
from tillhouse.voice.conversation import chat_rules as rules

_LIMITS = AnswerLimits(seconds=rules.ANSWER_WITHIN_S, body_bytes=rules.ANSWER_BYTES_MAX)
# A server that is briefly away is asked once more.
_TRIES = 2
_PAUSE_S = 0.5
_PASSING = (429, 500, 502, 503, 504)
_AWAY = ("unreachable", "bad_response")
_OK = 200
_REDIRECTS = range(300, 400)


class ModelFailed(Exception):
    """The model is of no use in this call; the reason in a word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = f"model_{reason}"


class ModelAccount(msgspec.Struct, frozen=True):
    """A model, and where it is asked."""

    url: str
    name: str
    key: str | None

    def __repr__(self) -> str:
        """Keep the key out of logs and tracebacks."""
        return f"ModelAccount({self.url!r}, {self.name!r}, …)"


class Model:
    """One model, as one conversation asks it."""

    def __init__(
        self, client: ServerClient, account: ModelAccount, within_s: float = rules.ANSWER_WITHIN_S
    ) -> None:
        self._client = client
        self._account = account
        self._within_s = within_s
        parts = urlsplit(account.url)
        path = parts.path.rstrip("/") + "/chat/completions"
        self._url = parts._replace(path=path).geturl()

    async def answer(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any]
    ) -> rules.ModelAnswer:
        """The model's next answer, or `ModelFailed`."""
        body = rules.request(self._account.name, messages, tools)
        post = Post(url=self._url, body=body, key=self._account.key)
        try:
            async with asyncio.timeout(self._within_s):
                answered = await self._ask(post)
        except TimeoutError:
            raise ModelFailed("timeout") from None
        if answered.status in _REDIRECTS:
            raise ModelFailed("redirects")
        if answered.status != _OK:
            raise ModelFailed(f"http_{answered.status}")
        answer = rules.read(answered.body)
        if answer is None:
            raise ModelFailed("bad_response")
        return answer

    async def _ask(self, post: Post) -> ServerAnswer:
        for _ in range(_TRIES - 1):
            try:
                answered = await self._client.post(post, _LIMITS)
            except Unanswered as error:
                if error.reason not in _AWAY:
                    raise ModelFailed(error.reason) from error
            else:
                if answered.status not in _PASSING:
                    return answered
            await asyncio.sleep(_PAUSE_S)
        try:
            return await self._client.post(post, _LIMITS)
        except Unanswered as error:
            raise ModelFailed(error.reason) from error
