"""The page of kitchen messages: what customers are told at each stage."""

from collections.abc import Mapping
from typing import Any

from tillhouse.desk.fields import faults_at
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.page import Onward, PageRequest, Shown
from tillhouse.desk.session.forms import Form
from tillhouse.desk.settings import operations as ops
from tillhouse.desk.settings.sections import KITCHEN, sections_of
from tillhouse.kitchen.types import STAGES

# The parts of a message that can be wrong, and their names.
_PARTS = {"text": "settings.text", "template": "settings.template_name"}


async def show(page: PageRequest) -> Shown:
    """The message of each stage, and the template for customers who may not be written freely."""
    frame = await frame_of(page)
    found = await page.needed(ops.MESSAGES)
    facts: dict[str, Any] = {
        "sections": sections_of(page, frame, KITCHEN),
        "here": KITCHEN,
        "stages": STAGES,
        "values": _values({one["stage"]: one for one in found.data}),
        "may_change": page.may(ops.SET_MESSAGES),
    }
    if page.refusal is not None:
        faults = faults_at(page.refusal, {"messages": [f"{stage}.*" for stage in STAGES]})
        labels = {f"{stage}.{part}": f"{sentence(f'kitchen.{stage}')}: {sentence(name)}"
                  for stage in STAGES for part, name in _PARTS.items()}  # fmt: skip
        facts |= {"values": page.form, "faults": faults, "labels": labels}
    return Shown("settings/kitchen.html", facts)


async def change(page: PageRequest) -> Onward:
    """Set all of them."""
    page.check(ops.SET_MESSAGES)
    messages = [_message(page.form, stage) for stage in STAGES]
    await page.act(ops.SET_MESSAGES, body={"messages": messages})
    return Onward(KITCHEN.address)


def _message(form: Form, stage: str) -> dict[str, Any]:
    name = form.get(f"{stage}.template")
    language = form.get(f"{stage}.language", "")
    return {
        "stage": stage,
        "is_sent": f"{stage}.is_sent" in form,
        "text": form.get(f"{stage}.text", ""),
        "template": {"name": name, "language": language} if name else None,
    }


def _values(messages: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for stage in STAGES:
        message = messages[stage]
        template = message["template"] or {"name": "", "language": "en"}
        values[f"{stage}.text"] = message["text"]
        values[f"{stage}.template"] = template["name"]
        values[f"{stage}.language"] = template["language"]
        if message["isSent"]:
            values[f"{stage}.is_sent"] = "true"
    return values
