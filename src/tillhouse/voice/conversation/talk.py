"""The parts of a conversation that every runtime has: saying, hearing, tools, the log of steps."""

from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.kit.ids import BookKey
from tillhouse.providers.telephony.provider import Clock, Expected, Manner, Party, PartyReply
from tillhouse.voice.agents.types import Script
from tillhouse.voice.calls.types import TurnRole
from tillhouse.voice.conversation import script_rules as rules
from tillhouse.voice.conversation.log import StepLog
from tillhouse.voice.conversation.subject import CallSubject, Used
from tillhouse.voice.conversation.tools import refuse, use
from tillhouse.voice.prompts.store import find_sound

# Engines have so long for words that the talk no longer waits for.
_LAST_WORDS = timedelta(seconds=2)
_ROLES: dict[str, TurnRole] = {"text": "customer", "digits": "dtmf"}


class Led(msgspec.Struct, frozen=True, kw_only=True):
    """The things that an agent knows when its call is answered."""

    subject: CallSubject
    agent_id: UUID
    script: Script
    disclosure: str
    greeting: str | None
    silence: timedelta
    is_machine: bool
    leaves_message: bool
    # The words that blanks of the script are filled with.
    words: dict[str, str]
    # The words of the sounds that are played, by their steps.
    prompts: Mapping[str, str]


class AgentTalk:
    """One conversation with a party, step by step."""

    def __init__(
        self, services: Services, clock: Clock, party: Party, log: StepLog, led: Led
    ) -> None:
        self._services = services
        self._clock = clock
        self._party = party
        self._log = log
        self._subject = led.subject
        self.led = led
        self.words = dict(led.words)
        self.has_opted_out = False
        # A machine has answered: the provider told it, or its greeting.
        self.meets_machine = led.is_machine

    async def open(self) -> str:
        """Say the disclosure first, then greet; the words that were heard."""
        told = await self.say(self.led.disclosure, rules.DISCLOSURE, manner="whole")
        self.meets_machine = await self._party.is_machine()
        if self.meets_machine:
            return told
        greeting = self.led.greeting or rules.filled(rules.GREETING, self.words)
        told = f"{told} {await self.say(greeting, rules.GREETED)}".strip()
        self.meets_machine = await self._party.is_machine()
        return told

    async def look_for_machine(self) -> bool:
        """Whether a customer who was asked and didn't answer is a machine after all."""
        self.meets_machine = self.meets_machine or await self._party.is_machine()
        return self.meets_machine

    async def opt_out(self) -> str:
        """Say that somebody won't be called any more; the outcome."""
        await self.say(rules.OPTED_OUT.text, rules.OPTING_OUT)
        return rules.OPTED_OUT.outcome

    async def leave_message(self) -> str:
        """Talk to a machine, if at all; the outcome."""
        if not self.led.leaves_message:
            return "voicemail"
        await self.say(self.led.disclosure, rules.DISCLOSURE, manner="whole")
        text = rules.filled(rules.VOICEMAIL, self.words)
        await self.say(text, rules.LEFT_MESSAGE, manner="whole")
        return "message_left"

    async def say(self, text: str, step: str = "", *, manner: Manner = "statement") -> str:
        """Say something, or play the sound of this step; the words that were heard."""
        sound = await self._sound(step) if step in self.led.prompts else None
        if sound is not None:
            text = self.led.prompts[step]
        said = await self._party.say(text, sound, manner=manner)
        for one in said:
            self._log.add("agent", one.text, one.started_at, one.ended_at)
        await self._overhear(timedelta())
        return " ".join(one.text for one in said)

    async def _overhear(self, within: timedelta) -> None:
        """Note words that answer no question; a wish not to be called again holds at any time."""
        for heard in await self._party.overheard(within):
            self._note(heard)
            if rules.is_opt_out(heard) and not self.has_opted_out:
                await self.write()
                await self._opt_out()

    def _note(self, heard: PartyReply) -> None:
        role = _ROLES[heard.kind]
        self._log.add(role, heard.text, heard.started_at, heard.ended_at, heard.confidence)

    async def _sound(self, step: str) -> bytes | None:
        agent = BookKey(self._subject.book.id, self.led.agent_id)
        async with self._services.pool.reading() as db:
            return await find_sound(db, agent, self.led.script, step)

    async def listen(self, expected: Expected) -> PartyReply:
        """Wait for an answer; a wish not to be called any more holds at once."""
        heard = await self._party.listen(expected, self.led.silence)
        await self._overhear(timedelta())
        if heard.kind in ("gone", "nothing"):
            return heard
        words = heard.text if heard.kind == "text" else ""
        self._subject = msgspec.structs.replace(self._subject, heard=words)
        self._note(heard)
        await self.write()
        if rules.is_opt_out(heard):
            await self._opt_out()
        return heard

    async def is_gone(self) -> bool:
        """Whether the line is over."""
        return (await self._party.listen(Expected(), timedelta())).kind == "gone"

    async def use(self, tool: str) -> Used:
        """Use a tool, if the agent may."""
        await self.write()
        began = self._clock.now()
        used = await use(self._services, self._subject, tool)
        self._log.add("tool", used.told, began, self._clock.now())
        self.words.update(used.words)
        self._subject = self._subject.after(used)
        return used

    def may(self, tool: str) -> bool:
        """Whether the agent may use a tool."""
        return tool in self._subject.tools

    async def refuse(self, tool: str, why: str) -> Used:
        """Note that a tool was asked for in vain."""
        await self.write()
        began = self._clock.now()
        used = await refuse(self._services, self._subject, tool, why)
        self._log.add("tool", used.told, began, self._clock.now())
        return used

    async def write(self) -> None:
        """Keep the steps so far."""
        await self._log.write()

    async def finish(self) -> None:
        """Keep all steps: engines may still be busy with a customer's last words."""
        await self._overhear(_LAST_WORDS)
        await self.write()

    async def _opt_out(self) -> None:
        """Somebody's wish not to be called holds, whichever tools the agent has."""
        began = self._clock.now()
        tools = self._subject.tools | {"record_opt_out"}
        subject = msgspec.structs.replace(self._subject, tools=tools)
        used = await use(self._services, subject, "record_opt_out")
        self._log.add("tool", used.told, began, self._clock.now())
        self.has_opted_out = True
