"""The scripted runtime: leads a conversation step by step, and logs each."""

from tillhouse.providers.telephony.provider import PartyReply
from tillhouse.voice.conversation import script_rules as rules
from tillhouse.voice.conversation.log import Spoken
from tillhouse.voice.conversation.talk import AgentTalk


class ScriptConversation:
    """One conversation of a script with a party."""

    def __init__(self, talk: AgentTalk) -> None:
        self._talk = talk
        self._led = talk.led
        self._data: dict[str, str] = {}
        self._asked: dict[str, int] = {}
        self._is_gone = False
        self._gone = "hung_up"
        self._end: str | None = None

    async def lead(self) -> Spoken:
        """Say the disclosure, greet, and follow the script to its end."""
        talk = self._talk
        try:
            outcome = await (talk.leave_message() if self._led.is_machine else self._follow())
        finally:
            await talk.finish()
        return Spoken(
            outcome, self._data, talk.has_opted_out, self._end, is_machine=talk.meets_machine
        )

    async def _follow(self) -> str:
        talk = self._talk
        outcome = await self._open()
        if outcome is not None:
            return outcome
        steps = rules.SCRIPTS[self._led.script]
        name = rules.START
        while not self._is_gone:
            step = steps[name]
            match step:
                case rules.Say(text=text, then=then):
                    await talk.say(rules.filled(text, talk.words), name)
                    name = then
                case rules.UseStep(tool=tool, done=done, failed=failed):
                    name = done if (await talk.use(tool)).is_done else failed
                case rules.May(tool=tool, then=then, otherwise=otherwise):
                    name = then if talk.may(tool) else otherwise
                case rules.AskStep():
                    name = await self._ask(step, name)
                case rules.End(text=text, outcome=outcome):
                    await talk.say(rules.filled(text, talk.words), name)
                    return outcome
            if talk.meets_machine:
                return await talk.leave_message()
            if talk.has_opted_out:
                return await talk.opt_out()
        return self._gone

    async def _open(self) -> str | None:
        """Say the disclosure and greet; the outcome where nothing follows."""
        talk = self._talk
        await talk.open()
        if talk.meets_machine:
            return await talk.leave_message()
        if talk.has_opted_out:
            return await talk.opt_out()
        if await talk.is_gone():
            return self._gone
        return None

    async def _ask(self, step: rules.AskStep, name: str) -> str:
        if step.name in self._asked and await self._talk.look_for_machine():
            return name
        self._asked[step.name] = self._asked.get(step.name, 0) + 1
        await self._talk.say(rules.filled(step.text, self._talk.words), name, manner="question")
        heard = await self._talk.listen(rules.expected_of(step))
        if self._talk.has_opted_out:
            return rules.START
        if heard.kind == "gone":
            self._is_gone, self._gone = True, step.gone
            return rules.START
        if heard.kind != "nothing":
            return self._answered(step, name, heard)
        return self._again(step, name)

    def _answered(self, step: rules.AskStep, name: str, heard: PartyReply) -> str:
        if not step.choices:
            self._data[step.name] = heard.text
            return step.then
        choice = rules.chosen(step, heard)
        if choice is None:
            return self._again(step, name)
        self._data[step.name] = choice.meaning
        return choice.then

    def _again(self, step: rules.AskStep, name: str) -> str:
        """Ask once more, or go on without an answer."""
        if rules.asks_again(self._asked[step.name]):
            return name
        if step.silent == rules.SILENT:
            self._end = "silence"
        return step.silent
