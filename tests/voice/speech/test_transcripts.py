"""Transcripts of generated calls are what was on the wire; `make transcripts` takes 200."""

import pytest

from tests.voice.speech.transcript_oracle import faults


@pytest.mark.parametrize("seed", range(12))
async def test_a_transcript_is_what_was_on_the_wire(seed: int) -> None:
    """The agent's words up to where they were cut, the customer's at their time."""
    assert await faults(seed) == []
