"""Engines behind HTTP and pocketsphinx: how they hear and speak, and how they may fail."""

import resource
import struct
import time
import wave
from collections.abc import AsyncIterator
from io import BytesIO

import msgspec
import pytest

from tests.conftest import SETTINGS
from tests.tools import needs
from tests.voice.speech.speech_server import SpeechServer
from tests.voice.speech.test_party import Ear, Speaker
from tillhouse.outgoing.client import ANYWHERE, AnswerLimits, Post, ServerClient, Unanswered
from tillhouse.settings import Settings
from tillhouse.voice.conversation.script_rules import NO, OPT_OUT, YES
from tillhouse.voice.speech import wav
from tillhouse.voice.speech.engines import Engines, FirstEar, FirstVoice, describe
from tillhouse.voice.speech.espeak import Espeak
from tillhouse.voice.speech.http_engines import EngineAccount, HttpEar, HttpVoice
from tillhouse.voice.speech.protocols import NotHeard, NotSpoken
from tillhouse.voice.speech.sphinx import SphinxEar

_PHRASES = ("yes", "no", "stop calling me")
_SECOND = struct.pack("<8000h", *[3000, -3000] * 4000)


def _wav(rate: int, channels: int = 1, seconds: int = 1) -> bytes:
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(bytes(2 * channels * rate * seconds))
    return file.getvalue()


@pytest.fixture
async def speech() -> AsyncIterator[SpeechServer]:
    """A server of speech."""
    server = await SpeechServer().start()
    yield server
    await server.stop()


@pytest.fixture
async def client() -> AsyncIterator[ServerClient]:
    """A client that may go anywhere."""
    client = ServerClient(ANYWHERE, None)
    yield client
    client.close()


def _account(speech: SpeechServer) -> EngineAccount:
    return EngineAccount(url=speech.url, model="m", key="sk-nobody", voice="ada")


@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (24_000, 1), (44_100, 2)])
async def test_an_engine_speaks(
    speech: SpeechServer, client: ServerClient, rate: int, channels: int
) -> None:
    """Its sound comes at the rate of telephones, whatever rate and channels it has."""
    speech.sound = _wav(rate, channels)
    sound = await HttpVoice(client, _account(speech)).speak("Hello.", "en")
    assert len(sound) == 16_000
    assert speech.spoken == [
        {"key": "Bearer sk-nobody", "model": "m", "input": "Hello.", "voice": "ada",
         "response_format": "wav", "language": "en"}
    ]  # fmt: skip


async def test_sound_is_converted_beside_the_loop(
    speech: SpeechServer, client: ServerClient
) -> None:
    """The process that paces the sound of calls computes less than the one that converts."""
    speech.sound = _wav(24_000, seconds=20)
    own_s, others_s = time.process_time(), _computed_by_children_s()
    sound = await HttpVoice(client, _account(speech)).speak("Hello.", "en")
    assert len(sound) == 20 * 16_000
    spent_s = time.process_time() - own_s
    assert spent_s < (_computed_by_children_s() - others_s) / 2


def _computed_by_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def test_an_engine_hears(speech: SpeechServer, client: ServerClient) -> None:
    """A WAV goes there, words come back without doubled blanks."""
    words = await HttpEar(client, _account(speech)).hear(_SECOND, _PHRASES, "en")
    assert words is not None
    assert words.text == "Yes, please."
    [heard] = speech.heard
    assert (heard["model"], heard["response_format"], heard["name"]) == ("m", "json", "said.wav")
    with wave.open(BytesIO(heard["sound"])) as sound:
        assert (sound.getframerate(), sound.getnchannels()) == (8000, 1)
        assert sound.readframes(8000) == _SECOND
    speech.words = '{"text": "  "}'
    assert await HttpEar(client, _account(speech)).hear(_SECOND, _PHRASES, "en") is None


async def test_an_engine_is_told_the_language(speech: SpeechServer, client: ServerClient) -> None:
    """All of it to speak; to hear, the language without its country."""
    speech.sound = _wav(8000)
    await HttpVoice(client, _account(speech)).speak("Bonjour.", "fr-CA")
    await HttpEar(client, _account(speech)).hear(_SECOND, (), "fr-CA")
    assert speech.spoken[0]["language"] == "fr-CA"
    assert speech.heard[0]["language"] == "fr"


async def test_a_language_that_an_engine_refuses_is_left_out(
    speech: SpeechServer, client: ServerClient
) -> None:
    """It is asked once more without it, and from then on at once; others are still told."""
    speech.sound, speech.refused = _wav(8000), {"pcm-NG", "pcm"}
    voice, ear = HttpVoice(client, _account(speech)), HttpEar(client, _account(speech))
    for _ in range(2):
        assert len(await voice.speak("How far?", "pcm-NG")) == 16_000
        words = await ear.hear(_SECOND, (), "pcm")
        assert words is not None
    told = ["pcm-NG", None, None]
    assert [one.get("language") for one in speech.spoken] == told
    assert [one.get("language") for one in speech.heard] == ["pcm", None, None]
    await voice.speak("Hello.", "en")
    assert speech.spoken[-1]["language"] == "en"
    speech.status = 400
    with pytest.raises(NotSpoken, match="400"):
        await voice.speak("Hello.", "en")
    speech.status = 200
    await voice.speak("Hello.", "en")
    assert speech.spoken[-1]["language"] == "en"


async def test_control_characters_are_no_words(speech: SpeechServer, client: ServerClient) -> None:
    """No database would take a NUL."""
    speech.words = '{"text": "yes\\u0000\\u0007 please"}'
    words = await HttpEar(client, _account(speech)).hear(_SECOND, _PHRASES, "en")
    assert words is not None
    assert words.text == "yes please"


@pytest.mark.parametrize(
    "sound",
    [b"", b"RIFF", b"RIFF____WAVE", b"RIFF____WAVEfmt \xff\xff\xff\xff", b"<html>",
     _wav(8000)[:40], _wav(8000).replace(struct.pack("<I", 8000), struct.pack("<I", 1), 1),
     _wav(8000).replace(b"fmt ", b"tmf ")],
)  # fmt: skip
async def test_a_sound_that_is_none_is_refused(
    speech: SpeechServer, client: ServerClient, sound: bytes
) -> None:
    """No crash, and no noise on the line."""
    speech.sound = sound
    with pytest.raises(NotSpoken):
        await HttpVoice(client, _account(speech)).speak("Hello.", "en")


def test_a_sound_has_its_bound() -> None:
    """An engine that speaks on is cut."""
    seconds = wav.SOUND_MAX_S + 5
    assert len(wav.read_sound(_wav(8000, seconds=seconds), "x").data) == 16_000 * wav.SOUND_MAX_S


@pytest.mark.parametrize("words", ["", "yes", "[]", '{"text": 7}', '{"x":' + "[" * 50_000])
async def test_a_transcript_that_is_none_is_refused(
    speech: SpeechServer, client: ServerClient, words: str
) -> None:
    """The customer is asked again."""
    speech.words = words
    with pytest.raises(NotHeard):
        await HttpEar(client, _account(speech)).hear(_SECOND, (), "en")


async def test_an_engine_that_refuses_or_is_away_is_told_apart(
    speech: SpeechServer, client: ServerClient
) -> None:
    """The operator reads why."""
    speech.status = 401
    with pytest.raises(NotSpoken, match="401"):
        await HttpVoice(client, _account(speech)).speak("Hello.", "en")
    with pytest.raises(NotHeard, match="401"):
        await HttpEar(client, _account(speech)).hear(_SECOND, (), "en")
    await speech.stop()
    with pytest.raises(NotSpoken, match="unreachable"):
        await HttpVoice(client, _account(speech)).speak("Hello.", "en")


async def test_an_engine_that_hangs_is_left(speech: SpeechServer, client: ServerClient) -> None:
    """After its time."""
    speech.hangs = True
    kind = "multipart/form-data; boundary=x"
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n\r\n--x--\r\n'
    post = Post(url=f"{speech.url}/audio/transcriptions", body=body, content_type=kind)
    with pytest.raises(Unanswered, match="timeout"):
        await client.post(post, AnswerLimits(seconds=0.3, body_bytes=100))


async def test_the_next_engine_stands_in() -> None:
    """One that fails is not the end, as long as there is another."""

    class Mute:
        async def speak(self, text: str, language: str) -> bytes:
            raise NotSpoken("mute")

    assert await FirstVoice([Mute(), Speaker()]).speak("Hello.", "en") == bytes(16_000)
    with pytest.raises(NotSpoken, match="mute"):
        await FirstVoice([Mute()]).speak("Hello.", "en")
    found = await FirstEar([Ear(""), Ear("yes")]).hear(_SECOND, (), "en")
    assert found is not None
    assert found.text == "yes"


async def test_a_language_without_a_voice_is_spoken_in_english() -> None:
    """By the last engine; a call goes on with an accent."""

    class English:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def speak(self, text: str, language: str) -> bytes:
            self.asked.append(language)
            if language != "en":
                raise NotSpoken("no such voice")
            return bytes(2)

    first, last = English(), English()
    assert await FirstVoice([first, last]).speak("Bawo ni", "yo") == bytes(2)
    assert (first.asked, last.asked) == (["yo"], ["yo", "en"])


async def test_pocketsphinx_takes_no_other_language_for_english() -> None:
    """A French no is no English yes; the customer is asked to press a key."""
    with pytest.raises(NotHeard, match="English alone"):
        await SphinxEar().hear(_SECOND, _PHRASES, "fr-FR")


def _with_engines(speech_url: str) -> Settings:
    return msgspec.structs.replace(SETTINGS, speaking_url=speech_url, hearing_url=speech_url)


async def test_the_operator_is_told_which_engines_there_are() -> None:
    """Those behind HTTP first."""
    speaks, hears = describe(_with_engines("https://speech.example.com/v1"))
    assert speaks.startswith("the engine at https://speech.example.com/v1")
    assert hears.startswith("the engine at https://speech.example.com/v1")
    Engines(_with_engines("https://speech.example.com/v1")).close()


async def test_a_decoder_that_fails_or_hangs_is_no_answer() -> None:
    """Its process is ended; the customer is asked again."""
    with pytest.raises(NotHeard, match="failed"):
        await SphinxEar(module="json.decoder").hear(_SECOND, _PHRASES, "en")
    with pytest.raises(NotHeard, match="longer"):
        await SphinxEar(within_s=0.0).hear(_SECOND, _PHRASES, "en")


@pytest.mark.proof
@needs("pocketsphinx")
@needs("espeak-ng")
@pytest.mark.parametrize(
    ("said", "meaning"),
    [("yes", "yes"), ("yes please", "yes"), ("no thanks", "no"), ("not yet", "no"),
     ("what", None), ("not at all", None), ("hello my dear friend", None),
     ("the weather is fine", None), ("I don't know", None), ("maybe tomorrow", None),
     ("can you call me later", None), ("sorry I am driving", None)],
)  # fmt: skip
async def test_pocketsphinx_hears_what_espeak_says(said: str, meaning: str | None) -> None:
    """One of the phrases, and nothing else for one: above all no yes that nobody said."""
    espeak, ear = Espeak.found(), SphinxEar.found()
    assert espeak is not None
    assert ear is not None
    sound = bytes(8000) + await espeak.speak(said, "en-US") + bytes(8000)
    words = await ear.hear(sound, (*YES, *NO, *OPT_OUT, "xyzzyplugh"), "en-US")
    found = words and ("yes" if words.text in YES else "no" if words.text in NO else words.text)
    assert found == meaning
    assert await ear.hear(sound, (), "en") is None
