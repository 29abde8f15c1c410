"""Hears one utterance by pocketsphinx, in a process of its own: its work would hold the media.

The phrases come as a line of JSON, then PCM16, mono, 8 kHz; the words go out as a line of JSON.
"""

import importlib
import json
import random
import struct
import sys
from collections.abc import Sequence
from typing import Any

# Almost any short sound fits them: "not at all" was heard as "okay".
LEFT_OUT = ("okay", "yeah", "sure")
# Other words match speech besides the phrases, so that it isn't taken for one of them.
DECOYS = (
    "what", "hello", "who is this", "i do not know", "not at all", "maybe", "later", "one moment",
    "can you call me later", "i can not hear you", "good morning", "thank you", "well", "a", "the",
    "and you", "it", "like", "but",
)  # fmt: skip
# Silence of zeros, as lines send it, is none that the model knows.
_NOISE = 20
_LOUDEST = 32_767


def grammar(phrases: Sequence[str]) -> str:
    """The phrases as a grammar in JSGF."""
    return "#JSGF V1.0; grammar answers; public <answer> = " + " | ".join(phrases) + " ;"


def doubled(pcm: bytes) -> bytes:
    """Sound of 8 kHz at 16 kHz, which the model was made for, with a little noise."""
    chance = random.Random(0)  # noqa: S311 - the same noise each time
    heard = struct.unpack(f"<{len(pcm) // 2}h", pcm[: len(pcm) // 2 * 2])
    samples = [
        max(-_LOUDEST, min(_LOUDEST, one + chance.randint(-_NOISE, _NOISE))) for one in heard
    ]
    following = (*samples[1:], *samples[-1:])
    both = [
        value
        for one, next_one in zip(samples, following, strict=True)
        for value in (one, (one + next_one) // 2)
    ]
    return struct.pack(f"<{len(both)}h", *both)


def decode(pcm: bytes, phrases: Sequence[str]) -> str:
    """The phrase that was said; empty when none fits."""
    sphinx: Any = importlib.import_module("pocketsphinx")
    decoder = sphinx.Decoder(samprate=16000, loglevel="FATAL", lm=None)
    # A word that its dictionary lacks would make it refuse all of them.
    known = [
        phrase
        for phrase in phrases
        if phrase not in LEFT_OUT
        and all(decoder.lookup_word(word) is not None for word in phrase.split())
    ]
    if not known:
        return ""
    decoder.add_jsgf_string("answers", grammar([*known, *DECOYS]))
    decoder.activate_search("answers")
    decoder.start_utt()
    decoder.process_raw(doubled(pcm), full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    words = found.hypstr if found is not None else ""
    # Half a phrase is no answer.
    return words if words in known else ""


def main() -> None:
    """One utterance."""
    phrases = json.loads(sys.stdin.buffer.readline())
    words = decode(sys.stdin.buffer.read(), phrases)
    sys.stdout.write(json.dumps({"text": words}) + "\n")


if __name__ == "__main__":
    main()
