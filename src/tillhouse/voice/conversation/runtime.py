"""The scripted runtime: leads a conversation step by step, and logs each."""

from datetime import timedelta

import msgspec

from tillhouse.access.process import Services
from tillhouse.providers.telephony.provider import Clock, Heard, Party
from tillhouse.voice.agents.types import Script
from tillhouse.voice.calls.types import TurnRole
from tillhouse.voice.conversation import script_rules as rules
from tillhouse.voice.conversation.log import Spoken, StepLog
from tillhouse.voice.conversation.tools import Subject, use

_ROLES: dict[str, TurnRole] = {"text": "customer", "digits": "dtmf"}


class Led(msgspec.Struct, frozen=True, kw_only=True):
    """The things that an agent knows when its call is answered."""

    subject: Subject
    script: Script
    disclosure: str
    greeting: str | None
    silence: timedelta
    is_machine: bool
    leaves_message: bool
    # The words that blanks of the script are filled with.
    words: dict[str, str]


class Conversation:
    """One conversation of a script with a party."""

    def __init__(
        self, services: Services, clock: Clock, party: Party, log: StepLog, led: Led
    ) -> None:
        self._services = services
        self._clock = clock
        self._party = party
        self._log = log
        self._led = led
        self._subject = led.subject
        self._words = dict(led.words)
        self._data: dict[str, str] = {}
        self._asked: dict[str, int] = {}
        self._is_gone = False
        self._has_opted_out = False
        self._end: str | None = None

    async def lead(self) -> Spoken:
        """Say the disclosure, greet, and follow the script to its end."""
        try:
            outcome = await (self._leave_message() if self._led.is_machine else self._talk())
        finally:
            await self._log.write()
        return Spoken(outcome, self._data, self._has_opted_out, self._end)

    async def _leave_message(self) -> str:
        if not self._led.leaves_message:
            return "voicemail"
        await self._say(self._led.disclosure)
        await self._say(rules.filled(rules.VOICEMAIL, self._words))
        return "message_left"

    async def _talk(self) -> str:
        await self._say(self._led.disclosure)
        await self._say(self._led.greeting or rules.filled(rules.GREETING, self._words))
        steps = rules.SCRIPTS[self._led.script]
        name = rules.START
        while not self._is_gone:
            step = steps[name]
            match step:
                case rules.Say(text=text, then=then):
                    await self._say(rules.filled(text, self._words))
                    name = then
                case rules.Use():
                    name = await self._use(step)
                case rules.Ask():
                    name = await self._ask(step)
                case rules.End(text=text, outcome=outcome):
                    await self._say(rules.filled(text, self._words))
                    return outcome
            if self._has_opted_out:
                await self._say(rules.OPTED_OUT.text)
                return rules.OPTED_OUT.outcome
        return "hung_up"

    async def _say(self, text: str) -> None:
        began = self._clock.now()
        await self._party.say(text)
        self._log.add("agent", text, began, self._clock.now())

    async def _use(self, step: rules.Use) -> str:
        await self._log.write()
        began = self._clock.now()
        used = await use(self._services, self._subject, step.tool)
        self._log.add("tool", used.told, began, self._clock.now())
        self._words.update(used.words)
        if used.order_id is not None:
            # The next tools are about the order that was spoken of, and no other.
            self._subject = msgspec.structs.replace(self._subject, order_id=used.order_id)
        return step.done if used.is_done else step.failed

    async def _ask(self, step: rules.Ask) -> str:
        self._asked[step.name] = self._asked.get(step.name, 0) + 1
        await self._say(rules.filled(step.text, self._words))
        heard = await self._party.listen(rules.expected_of(step), self._led.silence)
        if heard.kind == "gone":
            self._is_gone = True
            return rules.START
        if heard.kind != "nothing":
            return await self._answered(step, heard)
        return self._again(step)

    async def _answered(self, step: rules.Ask, heard: Heard) -> str:
        role = _ROLES[heard.kind]
        self._log.add(role, heard.text, heard.started_at, heard.ended_at, heard.confidence)
        await self._log.write()
        if rules.is_opt_out(heard):
            await self._opt_out()
            return rules.START
        if not step.choices:
            self._data[step.name] = heard.text
            return step.then
        choice = rules.chosen(step, heard)
        if choice is None:
            return self._again(step)
        self._data[step.name] = choice.meaning
        return choice.then

    def _again(self, step: rules.Ask) -> str:
        """Ask once more, or end: the name of the question is that of no step, so look it up."""
        if rules.asks_again(self._asked[step.name]):
            steps = rules.SCRIPTS[self._led.script]
            return next(name for name, one in steps.items() if one is step)
        self._end = "silence"
        return "silent"

    async def _opt_out(self) -> None:
        """Somebody's wish not to be called holds, whichever tools the agent has."""
        began = self._clock.now()
        tools = self._subject.tools | {"record_opt_out"}
        subject = msgspec.structs.replace(self._subject, tools=tools)
        used = await use(self._services, subject, "record_opt_out")
        self._log.add("tool", used.told, began, self._clock.now())
        self._has_opted_out = True
