"""Plays the whole story, from registering the business to deleting what it made."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from story import (
    checkout,
    ending,
    finance,
    folios,
    goods,
    hotel,
    messaging,
    opening,
    payouts,
    people,
    sale,
    voice,
    webhooks,
)
from story.receiver import PATH, receiving
from story.recorder import Recorder
from story.servers import Installation
from story.story import Story


def play(database_url: str, source: Path | None = None) -> list[dict[str, Any]]:
    """Every exchange, played on an empty database; `source` names another version's package."""
    with (
        tempfile.TemporaryDirectory(prefix="tillhouse-story-") as folder,
        receiving(Path(folder)) as (hooks, certificate),
    ):
        installation = Installation(
            database_url,
            Path(folder) / "log",
            source,
            WEBHOOK_ALLOW_TARGETS="127.0.0.1/32",
            WEBHOOK_CA_FILE=str(certificate),
        )
        with installation.serving() as address:
            aliases = {address: "https://till.example.com", hooks: "https://shop.example.com"}
            recorder = Recorder(address, aliases)
            try:
                asyncio.run(_tell(Story(recorder, database_url, hooks + PATH, installation)))
            finally:
                recorder.close()
            return recorder.exchanges


async def _tell(story: Story) -> None:
    """Chapter after chapter, in the order of the shop's own time."""
    for chapter in (
        opening.account, people.invited, opening.keys, opening.bookkeeper, opening.premises,
        opening.customers,
        goods.menu, goods.promotions,
        webhooks.hooks,
        goods.stock,
        sale.seated, sale.ordered, sale.cooked, messaging.messages, sale.paid, sale.promised,
    ):  # fmt: skip
        chapter(story)
    await sale.asked_again(story)
    for chapter in (
        sale.looked_up,
        goods.later_stock,
        finance.counted,
        finance.spent,
        checkout.asked_for,
        checkout.asked_for_wallet,
    ):
        chapter(story)
    await payouts.filled(story)
    for chapter in (
        payouts.accounts,
        payouts.withdrawn,
        voice.numbers,
        voice.agents,
        voice.suppressed,
    ):
        chapter(story)
    await voice.called(story)
    for chapter in (
        hotel.house,
        hotel.guests,
        hotel.booked,
        hotel.requests,
        folios.folio,
        folios.departure,
        webhooks.deliveries,
        ending.changes,
        ending.deletions,
        ending.looks_back,
    ):
        chapter(story)
