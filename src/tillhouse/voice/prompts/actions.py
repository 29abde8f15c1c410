"""Prompts: list the steps of an agent's script with their sounds, set one, remove one."""

import base64
import binascii
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.ids import BookKey
from tillhouse.kit.partial import faults
from tillhouse.providers.telephony.sip.g711 import decode
from tillhouse.voice.agents import actions as agents
from tillhouse.voice.agents.types import Agent
from tillhouse.voice.prompts import rules, store
from tillhouse.voice.prompts.quota import keep_quota
from tillhouse.voice.prompts.rules import BYTES_PER_S, SECONDS_MAX
from tillhouse.voice.prompts.types import NewPrompt, Prompt, Prompts
from tillhouse.voice.speech.wav import MU_LAW, RATE, Wav, is_pcm16, read_wav


async def show(call: Call, voice_agent_id: UUID) -> Prompts:
    """The steps of an agent's script, and their sounds."""
    return await _shown(call, await agents.show(call, voice_agent_id))


async def change(call: Call, voice_agent_id: UUID, new: NewPrompt) -> Prompts:
    """Play a sound at a step, or none."""
    agent = await agents.lock(call, voice_agent_id)
    check(_faults(agent, new))
    key = BookKey(call.book.id, agent.id)
    if new.sound is None:
        has_changed = await store.delete_prompt(call.db, key, agent.script, new.step)
    else:
        has_changed = True
        sound = read_prompt(new.sound)
        assert sound is not None, "the rules refuse any other"  # noqa: S101
        named = (agent.script, str(new.step))
        await store.upsert_prompt(call.db, key, named, str(new.text), sound, call.now)
        await keep_quota(call.db, call.book.id)
    if has_changed:
        agent = await agents.note_change(call, key)
    return await _shown(call, agent)


async def change_faults(call: Call, voice_agent_id: UUID, new: NewPrompt) -> list[FieldError]:
    """The faults of a sound for a step."""
    return _faults(await agents.show(call, voice_agent_id), new)


def _faults(agent: Agent, new: NewPrompt) -> list[FieldError]:
    steps = _spoken(agent)
    return faults(
        lambda: rules.step_faults(new.step, steps),
        lambda: rules.text_faults(new.text, has_sound=new.sound is not None),
        lambda: rules.sound_faults(
            read_prompt(new.sound) if new.sound is not None else None,
            has_sound=new.sound is not None,
        ),
    )


def _spoken(agent: Agent) -> dict[str, str]:
    return {**rules.spoken_at(agent.script, agent.disclosure, agent.greeting)}


async def _shown(call: Call, agent: Agent) -> Prompts:
    rows = await store.list_prompts(call.db, BookKey(call.book.id, agent.id), agent.script)
    found = {row["step"]: row for row in rows}
    steps = [
        Prompt(
            step=step,
            spoken=spoken,
            text=row["text"] if row else None,
            duration_seconds=rules.seconds_of(row["size"]) if row else None,
            updated_at=row["updated_at"] if row else None,
        )
        for step, spoken in _spoken(agent).items()
        for row in [found.get(step)]
    ]
    leaves_message = agent.voicemail_action == "leave_message"
    return Prompts(
        script=agent.script,
        is_complete=rules.is_complete(agent.script, found, leaves_message=leaves_message),
        steps=steps,
    )


_MU_LAW_BITS = 8


def read_prompt(encoded: str) -> bytes | None:
    """A WAV in base64 as lines play it: PCM16, mono, 8 kHz; None where it is no such sound."""
    try:
        found = read_wav(base64.b64decode(encoded, validate=True))
    except binascii.Error:
        return None
    pcm = _pcm(found) if found is not None else b""
    return pcm if 0 < len(pcm) <= SECONDS_MAX * BYTES_PER_S else None


def _pcm(found: Wav) -> bytes:
    if (found.rate, found.channels) != (RATE, 1):
        return b""
    if is_pcm16(found):
        return bytes(found.data[: len(found.data) // 2 * 2])
    is_mu_law = (found.kind, found.bits) == (MU_LAW, _MU_LAW_BITS)
    return decode("PCMU", bytes(found.data)) if is_mu_law else b""
