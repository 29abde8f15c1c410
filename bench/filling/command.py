"""`python -m bench fill`: the demo business with a test book as large as wanted."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from bench.filling.fill import BATCH, Filled, fill
from bench.filling.shop import prepare_shop
from tillhouse.access.callers import Book, UserCaller
from tillhouse.access.process import Services
from tillhouse.cli import demo, installation
from tillhouse.cli.sentences import sentence_for
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.kit.clock import now


def main(arguments: Sequence[str]) -> None:
    """Fill the book, and print what is in it now."""
    parser = argparse.ArgumentParser(
        prog="python -m bench fill",
        description="Fill the demo business's test book up to so many orders, by COPY.",
    )
    parser.add_argument("--orders", type=int, required=True, help="how many there are to be")
    parser.add_argument("--data", type=Path, help="folder of the embedded database")
    parser.add_argument("--batch", type=int, default=BATCH, help="orders of one transaction")
    options = parser.parse_args(arguments)
    try:
        made = _run(options)
    except Exception as error:
        sentence = sentence_for(error)
        if sentence is None:
            raise
        raise SystemExit(sentence) from None
    print(json.dumps(made))


def _run(options: argparse.Namespace) -> dict[str, Any]:
    settings = installation.settings_with(data=options.data)

    async def work(database: installation.Installation) -> dict[str, Any]:
        async with installation.open_services(database, migrating=lambda _: None) as services:
            made = await demo.ensure(services)
            filled = await _fill(services, made, options)
        found = {
            "businessId": made.business_id, "testKey": made.test_key, "filled": filled,
            "email": str(made.email), "password": made.password,
        }  # fmt: skip
        return cast("dict[str, Any]", msgspec.to_builtins(found))

    stop = Stop()
    stop.install()
    with installation.running_database(settings, stop) as database:
        return run_until_told(work(database), stop)


async def _fill(services: Services, made: demo.Demo, options: argparse.Namespace) -> Filled:
    async with services.pool.transaction() as db:
        call = await demo.owner_call(services, db, made.business_id, now())
        test = Book(cast("UserCaller", call.caller).books.test, "test")
        shop = await prepare_shop(msgspec.structs.replace(call, book=test))
    return await fill(services, call, shop, options.orders, options.batch)
