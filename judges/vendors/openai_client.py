"""OpenAI's own client against our servers of models and speech, and its types against our requests.

`root` is the address of a server; `requests` names a file with bodies that we sent.
"""

import json
import sys
from pathlib import Path

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter


def talk(root):
    """Ask for words and for a tool."""
    client = OpenAI(base_url=root, api_key="sk-nobody")
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hello."}], "max_tokens": 9}
    found = client.chat.completions.create(**asked)
    [call] = found.choices[0].message.tool_calls
    assert (call.type, call.function.name, call.function.arguments) == (
        "function", "find_order", "{}",
    ), call  # fmt: skip
    assert found.choices[0].finish_reason == "tool_calls", found
    told = {"role": "tool", "tool_call_id": call.id, "content": '{"done": false, "result": "x"}'}
    ended = client.chat.completions.create(**{**asked, "messages": [*asked["messages"], told]})
    assert ended.choices[0].message.content, ended
    print("The client reads words and tools.")


def sound(root):
    """Have something spoken, and heard."""
    client = OpenAI(base_url=root, api_key="sk-nobody")
    spoken = client.audio.speech.create(
        model="m", voice="alloy", input="Hello.", response_format="wav"
    )
    assert spoken.read()[:4] == b"RIFF", spoken
    heard = client.audio.transcriptions.create(model="m", file=("said.wav", spoken.read()))
    assert heard.text.strip() == "Yes,  please.", heard
    print("The client speaks and hears.")


def judge(path):
    """Each message and each tool of our requests is one of its types."""
    bodies = json.loads(Path(path).read_text())
    for body in bodies:
        TypeAdapter(list[ChatCompletionMessageParam]).validate_python(body["messages"])
        TypeAdapter(list[ChatCompletionToolParam]).validate_python(body["tools"])
    roles = {message["role"] for body in bodies for message in body["messages"]}
    assert roles == {"system", "user", "assistant", "tool"}, roles
    print(f"{len(bodies)} requests of ours have its types.")


if __name__ == "__main__":
    {"talk": talk, "sound": sound, "requests": judge}[sys.argv[1]](sys.argv[2])
