"""Speech engines behind HTTP, as OpenAI's API has them: /audio/speech, /audio/transcriptions."""

import re
import secrets
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from tillhouse.kit.json import encode
from tillhouse.outgoing.client import (
    AnswerLimits,
    Post,
    ServerAnswer,
    ServerClient,
    Unanswered,
)
from tillhouse.voice.speech.converting import Converter
from tillhouse.voice.speech.protocols import (
    TEXT_LENGTH_MAX,
    HeardWords,
    NotHeard,
    NotSpoken,
    primary,
)
from tillhouse.voice.speech.wav import telephone_wav

# Two minutes of sound, 48 kHz, 16 bits, one channel, and a little more.
_SPOKEN = AnswerLimits(seconds=20.0, body_bytes=12 * 1024 * 1024)
_HEARD = AnswerLimits(seconds=10.0, body_bytes=64 * 1024)
_HEARD_LENGTH_MAX = 500
_OK = 200
# Nothing that was said; a database takes no NUL.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

# An engine says by these that it doesn't know a field, or a language.
_REFUSED = (400, 422)
_LANGUAGES_MAX = 1000


class EngineAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An engine, and where it is asked."""

    url: str
    model: str
    key: str | None = None
    voice: str = ""

    def __repr__(self) -> str:
        """Keep the key out of logs and tracebacks."""
        return f"EngineAccount({self.url!r}, {self.model!r}, …)"


class Languages:
    """The languages that an engine takes as a field; one that it refuses is left out."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    async def ask(
        self, language: str, ask: Callable[[str | None], Awaitable[ServerAnswer]]
    ) -> ServerAnswer:
        """An answer in a language, or in none where the engine refuses it but not the rest."""
        if language in self._refused:
            return await ask(None)
        answer = await ask(language)
        if answer.status not in _REFUSED:
            return answer
        answer = await ask(None)
        if answer.status == _OK and len(self._refused) < _LANGUAGES_MAX:
            self._refused.add(language)
        return answer


class HttpVoice:
    """Speaks by an engine behind HTTP."""

    def __init__(self, client: ServerClient, account: EngineAccount) -> None:
        self._client = client
        self._account = account
        self._converter = Converter()
        self._languages = Languages()

    async def speak(self, text: str, language: str) -> bytes:
        """The text as sound."""
        try:
            answer = await self._languages.ask(language, partial(self._ask, text))
        except Unanswered as error:
            raise NotSpoken(f"the speaking engine: {error.reason}") from error
        if answer.status != _OK:
            raise NotSpoken(f"the speaking engine answered {answer.status}")
        return await self._converter.convert(answer.body, "the speaking engine")

    async def _ask(self, text: str, language: str | None) -> ServerAnswer:
        account = self._account
        fields = {
            "model": account.model,
            "input": text[:TEXT_LENGTH_MAX],
            "voice": account.voice,
            "response_format": "wav",
        }
        if language is not None:
            fields["language"] = language
        post = Post(url=f"{account.url}/audio/speech", body=encode(fields), key=account.key)
        return await self._client.post(post, _SPOKEN)


class _Transcript(msgspec.Struct, frozen=True):
    text: str


class HttpEar:
    """Hears by an engine behind HTTP."""

    def __init__(self, client: ServerClient, account: EngineAccount) -> None:
        self._client = client
        self._account = account
        self._languages = Languages()

    async def hear(self, pcm: bytes, phrases: tuple[str, ...], language: str) -> HeardWords | None:
        """The words of an utterance; the engine isn't told which are expected."""
        try:
            answer = await self._languages.ask(primary(language), partial(self._ask, pcm))
        except Unanswered as error:
            raise NotHeard(f"the hearing engine: {error.reason}") from error
        words = " ".join(_CONTROL.sub(" ", _text(answer)).split())[:_HEARD_LENGTH_MAX]
        return HeardWords(words) if words else None

    async def _ask(self, pcm: bytes, language: str | None) -> ServerAnswer:
        account = self._account
        fields = {"model": account.model, "response_format": "json"}
        if language is not None:
            fields["language"] = language
        kind, body = _form(fields, pcm)
        post = Post(
            url=f"{account.url}/audio/transcriptions",
            body=body,
            content_type=kind,
            key=account.key,
        )
        return await self._client.post(post, _HEARD)


def _text(answer: ServerAnswer) -> str:
    if answer.status != _OK:
        raise NotHeard(f"the hearing engine answered {answer.status}")
    try:
        return msgspec.json.decode(answer.body, type=_Transcript).text
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotHeard("the hearing engine answered with no transcript") from None


def _form(fields: dict[str, str], pcm: bytes) -> tuple[str, bytes]:
    """Fields and a sound as multipart/form-data: its type, and the body."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="said.wav"\r\n'
        "Content-Type: audio/wav\r\n\r\n"
    )
    body = "".join(parts).encode() + telephone_wav(pcm) + f"\r\n--{boundary}--\r\n".encode()
    return f"multipart/form-data; boundary={boundary}", body
