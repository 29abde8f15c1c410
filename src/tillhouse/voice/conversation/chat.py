"""The chat runtime: a language model chooses the words, and tools from the agent's list."""

from typing import Any

import structlog

from tillhouse.providers.telephony.provider import PartyReply
from tillhouse.voice.conversation import chat_rules as rules
from tillhouse.voice.conversation.log import Spoken
from tillhouse.voice.conversation.model import Model, ModelFailed
from tillhouse.voice.conversation.talk import AgentTalk

log = structlog.get_logger()


class ChatConversation:
    """One conversation of a model with a party."""

    def __init__(self, talk: AgentTalk, model: Model, brief: rules.Brief) -> None:
        self._talk = talk
        self._model = model
        self._brief = brief
        self._messages: list[dict[str, Any]] = []
        self._allowed = talk.led.subject.tools
        self._tools = rules.tools_for(self._allowed)
        self._asked = 0
        self._done: list[str] = []
        self._has_agreed = False
        self._is_over = False

    async def lead(self) -> Spoken:
        """Say the disclosure, greet, and talk as the model says."""
        talk = self._talk
        try:
            if talk.led.is_machine:
                return Spoken(await talk.leave_message(), {})
            opening = await talk.open()
            if talk.meets_machine:
                return Spoken(await talk.leave_message(), {}, is_machine=True)
            if talk.has_opted_out:
                return Spoken(await talk.opt_out(), {}, has_opted_out=True)
            if await talk.is_gone():
                return Spoken("hung_up", {})
            self._messages = rules.beginning(self._brief, opening)
            return await self._converse()
        except ModelFailed as error:
            return await self._fail(error.reason)
        finally:
            await talk.finish()

    async def _converse(self) -> Spoken:
        talk, silences = self._talk, 0
        for _ in range(rules.TURNS_MAX):
            await self._speak()
            if self._is_over:
                return self._spoken()
            heard = await talk.listen(rules.EXPECTED)
            if heard.kind == "gone":
                return self._spoken() if self._done else Spoken("hung_up", {})
            if talk.has_opted_out:
                return Spoken(await talk.opt_out(), {}, has_opted_out=True)
            if await talk.look_for_machine():
                return Spoken(await talk.leave_message(), {}, is_machine=True)
            silences = silences + 1 if heard.kind == "nothing" else 0
            if silences > 1:
                await talk.say(rules.SILENT)
                return Spoken("no_answer", {}, end="silence")
            self._hear(heard)
        await talk.say(rules.GOODBYE)
        return self._spoken()

    def _hear(self, heard: PartyReply) -> None:
        # Words for which a question wasn't heard agree to nothing.
        self._has_agreed = heard.kind != "nothing" and not heard.is_early
        self._messages.append(rules.heard_message(heard))

    def _spoken(self) -> Spoken:
        return Spoken(
            rules.outcome_of(self._done), {}, has_opted_out="record_opt_out" in self._done
        )

    async def _speak(self) -> None:
        """Ask the model until it has said something, and wants no tool first."""
        for _ in range(rules.ROUNDS_MAX):
            answer = await self._model.answer(self._messages, self._tools)
            # A model is told the heard part of its words, not all that it wanted to say.
            said = await self._talk.say(answer.text, manner="open") if answer.text else ""
            self._messages.append(rules.answer_message(answer, said))
            for asked in answer.asked:
                await self._use(asked)
                if self._is_over:
                    break
            if self._is_over:
                if not answer.text:
                    await self._talk.say(rules.GOODBYE)
                return
            if answer.text and not answer.asked:
                return
        raise ModelFailed("endless")

    async def _use(self, asked: rules.ToolRequest) -> None:
        if asked.name == rules.END_CALL:
            self._is_over = True
            return
        why = rules.refusal(asked, self._allowed, self._asked, has_heard=self._has_agreed)
        self._asked += 1
        if why is None:
            used = await self._talk.use(asked.name)
        elif self._asked <= rules.TOOLS_MAX:
            used = await self._talk.refuse(asked.name, why)
        else:
            raise ModelFailed("endless")
        if used.is_done:
            self._done.append(asked.name)
        self._messages.append(
            rules.tool_message(asked, is_done=used.is_done, told=used.told, facts=used.words)
        )

    async def _fail(self, reason: str) -> Spoken:
        """End politely, and say why in the outcome, unless the customer has gone before."""
        if await self._talk.is_gone():
            return self._spoken() if self._done else Spoken("hung_up", {})
        log.warning("voice_model_failed", reason=reason)
        await self._talk.say(rules.SORRY)
        done = {"done": rules.outcome_of(self._done)} if self._done else {}
        return Spoken("failed", {"reason": reason, **done}, end="agent_error")
