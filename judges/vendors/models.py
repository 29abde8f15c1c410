"""OpenAI's own client judges the servers of the tests, and the requests that we send."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.voice.model_server import ModelServer
from tests.voice.speech.speech_server import SpeechServer

from tillhouse.kit.network import parse_networks
from tillhouse.outgoing.client import ServerClient
from tillhouse.voice.conversation import chat_rules as rules
from tillhouse.voice.conversation.model import Model, ModelAccount
from tillhouse.voice.speech.wav import telephone_wav

_TOOLS = ("find_order", "confirm_order", "send_payment_link", "record_opt_out")
_PROGRAM = ("tools/bin/python", "openai_client.py")


async def judge_models(folder: Path, do: Callable[..., Awaitable[None]]) -> None:
    """Its client asks the servers, then reads what we asked."""
    speech = await SpeechServer().start()
    speech.sound = telephone_wav(bytes(16_000))
    await do(folder, *_PROGRAM, "sound", speech.url)
    await speech.stop()
    models = await ModelServer().start()
    await do(folder, *_PROGRAM, "talk", models.url)
    models.asked.clear()
    await _converse(models.url)
    (folder / "asked.json").write_text(json.dumps(models.asked))
    await do(folder, *_PROGRAM, "requests", "asked.json")
    await models.stop()


async def _converse(url: str) -> None:
    client = ServerClient(parse_networks(["127.0.0.1"]), None)
    model = Model(client, ModelAccount(url, "m", "sk-nobody"))
    brief = rules.Brief(
        agent="Ada", business="Ada's", language="en", tone="warm", instructions="Be brief.",
        script="order_confirmation", facts={"purpose": "An order"},
    )  # fmt: skip
    messages = rules.beginning(brief, "Hello.")
    for _ in range(2):
        answer = await model.answer(messages, rules.tools_for(_TOOLS))
        messages.append(rules.answer_message(answer, answer.text))
        for asked in answer.asked:
            messages.append(rules.tool_message(asked, is_done=False, told="x", facts={}))
    client.close()
