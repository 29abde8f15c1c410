"""Talks on a line that was answered: by a script or by a model, as the agent says."""

from datetime import timedelta
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.ids import OrderId
from tillhouse.outgoing.client import ServerClient
from tillhouse.providers.telephony.provider import CallLine, Clock, Party
from tillhouse.settings import Settings
from tillhouse.voice.agents.secrets import open_key
from tillhouse.voice.agents.types import Script
from tillhouse.voice.conversation.chat import ChatConversation
from tillhouse.voice.conversation.chat_rules import Brief
from tillhouse.voice.conversation.log import Spoken, StepLog
from tillhouse.voice.conversation.model import Model, ModelAccount
from tillhouse.voice.conversation.runtime import ScriptConversation
from tillhouse.voice.conversation.subject import CallSubject
from tillhouse.voice.conversation.summaries import summary_of
from tillhouse.voice.conversation.talk import AgentTalk, Led
from tillhouse.voice.dispatching.store.claiming import Claimed
from tillhouse.voice.prompts.rules import is_complete
from tillhouse.voice.speech.engines import Engines
from tillhouse.voice.speech.protocols import NotSpoken

log = structlog.get_logger()


class Means:
    """Speech engines and a way to models: all conversations of a process share them."""

    def __init__(self, settings: Settings) -> None:
        self.engines = Engines(settings)
        self.models = ServerClient(settings.model_allow_targets, settings.webhook_ca_file)

    def close(self) -> None:
        """Ask no engine any more."""
        self.engines.close()
        self.models.close()


class AnsweredCall(msgspec.Struct, frozen=True):
    """A call that was answered, and by whom."""

    call: Claimed
    attempt: int
    is_machine: bool


async def talk_on(
    services: Services, clock: Clock, line: CallLine, answered: AnsweredCall, means: Means
) -> Spoken:
    """Lead the whole conversation, and hang up; whatever fails is an end, too."""
    call = answered.call
    party = means.engines.party_of(line.party, clock.now, call.language, is_spoken=_is_spoken(call))
    try:
        if party is None:
            return _failed("no_speech")
        return await _lead(services, clock, party, answered, means)
    except NotSpoken as error:
        log.warning("voice_not_spoken", call=str(call.id), error=str(error))
        return _failed("not_spoken")
    except Exception:
        log.exception("voice_conversation_failed", call=str(call.id))
        return _failed("error")
    finally:
        await line.hang_up()


def _is_spoken(call: Claimed) -> bool:
    """Whether anything is said for which the agent has no sound."""
    leaves_message = call.voicemail_action == "leave_message"
    script = msgspec.convert(call.script, type=Script)
    has_all = is_complete(script, _prompts(call), leaves_message=leaves_message)
    return call.runtime != "scripted" or not has_all


def _prompts(call: Claimed) -> dict[str, str]:
    return msgspec.json.decode(call.prompts or "{}", type=dict[str, str])


def _failed(reason: str) -> Spoken:
    return Spoken("failed", {"reason": reason}, end="agent_error")


async def _lead(
    services: Services, clock: Clock, party: Party, answered: AnsweredCall, means: Means
) -> Spoken:
    call = answered.call
    steps = StepLog(services, clock, call.key, answered.attempt)
    talk = AgentTalk(services, clock, party, steps, _led(call, is_machine=answered.is_machine))
    if call.runtime == "scripted" or call.model_url is None or call.model_name is None:
        spoken = await ScriptConversation(talk).lead()
    else:
        key = await _key(services, call)
        model = Model(means.models, ModelAccount(call.model_url, call.model_name, key))
        spoken = await ChatConversation(talk, model, _brief(call, talk)).lead()
    summary = summary_of(spoken.outcome, spoken.data, talk.words)
    return msgspec.structs.replace(spoken, summary=summary)


async def _key(services: Services, call: Claimed) -> str | None:
    if call.model_key_sealed is None:
        return None
    async with services.pool.reading() as db:
        agent_id: UUID = call.agent_id
        return await open_key(services.vault, db, call.business_id, agent_id, call.model_key_sealed)


def _brief(call: Claimed, talk: AgentTalk) -> Brief:
    facts = {"customer": call.customer_name, "purpose": call.purpose, "context": call.context}
    return Brief(
        agent=call.agent_name,
        business=call.business_name,
        language=call.language,
        tone=call.tone,
        instructions=call.instructions,
        script=talk.led.script,
        facts={name: text for name, text in facts.items() if text},
    )


def _led(call: Claimed, *, is_machine: bool) -> Led:
    subject = CallSubject(
        call=call.key,
        business_id=call.business_id,
        book=Book(call.book_id, call.environment),
        phone=call.customer_phone,
        order_id=OrderId(call.order_id) if call.order_id else None,
        reservation_id=call.reservation_id,
        context=call.context or "",
        agent_name=call.agent_name,
        script=msgspec.convert(call.script, type=Script),
        tools=frozenset(call.tools),
    )
    return Led(
        subject=subject,
        agent_id=call.agent_id,
        script=subject.script,
        disclosure=call.disclosure,
        greeting=call.greeting,
        silence=timedelta(seconds=call.silence_timeout_s),
        is_machine=is_machine,
        leaves_message=call.voicemail_action == "leave_message",
        words={
            "customer": call.customer_name or "",
            "agent": call.agent_name,
            "business": call.business_name,
            "purpose": call.purpose.rstrip(".?! "),
        },
        prompts=_prompts(call),
    )
