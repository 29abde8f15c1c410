"""`tillhouse serve`: database, migrations, workers and the API, in one command."""

import asyncio
import contextlib
import shlex
import socket
import sys
import time
from collections.abc import Callable
from typing import Annotated

import msgspec
import structlog
import typer
from rich.console import Console
from rich.panel import Panel

from tillhouse.app import App
from tillhouse.cli import demo as demos
from tillhouse.cli import installation as grounds
from tillhouse.cli.background import Schedule, ServerWatch
from tillhouse.cli.child import end_children
from tillhouse.cli.child_process import child_order
from tillhouse.cli.demo import Demo, card
from tillhouse.cli.installation import Installation
from tillhouse.cli.kept_backups import keep_before_migration
from tillhouse.cli.output import (
    AsJson,
    Data,
    print_result,
    stderr_console,
    tolerate_full_disks,
)
from tillhouse.cli.processes import children_of_one, supervised_children
from tillhouse.cli.sentences import told_in_the_log
from tillhouse.cli.server import Server
from tillhouse.cli.server import serve as serve_here
from tillhouse.cli.servers import RunningServer, noted
from tillhouse.cli.sockets import bind, listen
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.cli.work import AGAIN_S
from tillhouse.cli.worker import WorkerOrder
from tillhouse.cli.workers import WorkerProcesses
from tillhouse.db.connecting import AWAY, DATABASE_HEALTH, connect_alone
from tillhouse.db.migrate import Migration
from tillhouse.http import log as logs
from tillhouse.kit.json import encode
from tillhouse.settings import Settings

_WORKERS_MAX = 64
_SHOW_DEMO = "Run `tillhouse demo` to see its login and keys, or serve with --show-keys."

log = structlog.get_logger()


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """How to serve: the flags, the settings that they make, and the sockets."""

    given: dict[str, object]
    settings: Settings
    sockets: list[socket.socket]
    workers: int
    has_demo: bool
    runs_workers: bool
    as_json: bool
    shows_keys: bool


class ServerFacts(msgspec.Struct, frozen=True):
    """The facts that a parent process asks for."""

    address: str
    demo: demos.Demo | None


@told_in_the_log()
def serve(  # noqa: PLR0913 - one argument an option
    *,
    host: Annotated[str | None, typer.Option(help="Address to listen on (127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port (8000); 0 takes a free one.")] = None,
    data: Data = None,
    workers: Annotated[int, typer.Option(min=1, max=_WORKERS_MAX, help="Processes.")] = 1,
    demo: Annotated[bool, typer.Option(help="Make a demo business and show its keys.")] = False,
    work: Annotated[
        bool, typer.Option(help="Do what `tillhouse work` does, too: webhooks, jobs, calls.")
    ] = True,
    log_level: Annotated[
        str | None, typer.Option(help="debug, info, warning or error (info).")
    ] = None,
    as_json: AsJson = False,
    show_keys: Annotated[
        bool, typer.Option(help="Print the demo's login and keys where no terminal is, too.")
    ] = False,
) -> None:
    """Serve the API; without TILLHOUSE_DATABASE_URL, with a database of its own."""
    given: dict[str, object] = {"host": host, "port": port, "data": data, "log_level": log_level}
    settings = grounds.settings_with(**given)
    tolerate_full_disks()
    logs.set_up(settings.log_level)
    stop = Stop()
    stop.at_last(end_children)
    stop.install()
    sockets = bind(settings.host, settings.port)
    given["port"] = sockets[0].getsockname()[1]
    serving = Serving(
        given=given,
        settings=grounds.settings_with(**given),
        sockets=sockets,
        workers=workers,
        has_demo=demo,
        runs_workers=work,
        as_json=as_json,
        shows_keys=show_keys,
    )
    with contextlib.suppress(KeyboardInterrupt):
        _serve(serving, stop)


def _serve(serving: Serving, stop: Stop) -> None:
    schedule = Schedule(serving.settings)
    stop.at_last(schedule.end_backup)
    with (
        stderr_console().status("Starting the database …") as status,
        contextlib.ExitStack() as stack,
    ):
        installation = stack.enter_context(grounds.running_database(serving.settings, stop))
        if stop.has_begun:
            return

        def report(migration: Migration) -> None:
            status.update(migration.done)

        wait = _until_there(installation)
        run_until_told(wait, stop)
        master_key, demo = run_until_told(_prepare(installation, serving, report), stop)
        status.stop()
        stack.enter_context(ServerWatch(installation.embedded))
        stack.enter_context(schedule)
        listen(serving.sockets, serving.settings.host)
        here = RunningServer(serving.settings.public_url, installation.shown)
        stack.enter_context(noted(here))

        def on_ready() -> None:
            address = serving.settings.public_url
            if sys.stdout.isatty() or (serving.shows_keys and not serving.as_json):
                welcome(Console(highlight=False), address, demo)
            if not sys.stderr.isatty():
                told = {"demo": _SHOW_DEMO} if demo else {}
                log.info("ready", address=address, reference=f"{address}/docs", **told)
            if serving.as_json:
                print_result(ServerFacts(address, demo), as_json=True, shown="")

        _run(serving, (installation.database_url, master_key), on_ready, stop)


def _run(
    serving: Serving, opened: tuple[str, str], on_ready: Callable[[], None], stop: Stop
) -> None:
    database_url, master_key = opened
    beside = child_order(serving.given, database_url, master_key)
    if serving.workers == 1:
        app = App(
            serving.settings,
            database_url,
            master_key,
            runs_workers=serving.runs_workers,
            apart=children_of_one(beside),
        )
        serve_here(Server(app, on_ready, stop), serving.sockets, stop)
        return

    async def supervise() -> None:
        order = WorkerOrder(
            **msgspec.structs.asdict(beside),
            sockets=[each.fileno() for each in serving.sockets],
            runs_workers=serving.runs_workers,
        )
        processes = supervised_children(beside) if serving.runs_workers else ()
        await WorkerProcesses(
            order, serving.sockets, serving.workers, on_ready, stop, processes
        ).run()

    asyncio.run(supervise())


async def _until_there(installation: Installation) -> None:
    """Wait for a database that is away, as long as the settings say, with one line."""
    ends = time.monotonic() + installation.settings.database_wait_s
    while time.monotonic() < ends:
        try:
            await (await connect_alone(installation.database_url)).close()
        except AWAY as error:
            DATABASE_HEALTH.note_away(error)
        else:
            DATABASE_HEALTH.note_connected(is_new=True)
            return
        await asyncio.sleep(AGAIN_S)


async def _prepare(
    installation: Installation, serving: Serving, report: Callable[[Migration], None]
) -> tuple[str, demos.Demo | None]:
    """Bring the database up to date, check the master key, and make the demo business."""

    async def keep() -> None:
        await keep_before_migration(installation)

    async with grounds.open_services(installation, report, keep) as services:
        demo = await demos.ensure(services) if serving.has_demo else None
        return await grounds.master_key(installation), demo


def welcome(console: Console, address: str, demo: Demo | None) -> None:
    """Tell where the API is, and with a demo business how to try it."""
    ready = f"Tillhouse is ready at {address}\nAPI reference: {address}/docs"
    if console.is_terminal:
        console.print(Panel(ready, expand=False, padding=(1, 2)), markup=False)
    else:
        console.print(ready, markup=False, soft_wrap=True)
    if demo:
        # Outside the frame and never wrapped: to be copied as they are.
        lines = [card(demo), "Try it:", *curl_lines(address, demo)]
        console.print("\n".join(lines), markup=False, soft_wrap=True)


def curl_lines(address: str, demo: Demo) -> list[str]:
    """Three commands that work as they are: the key, a login, and a call with its token."""
    credentials = encode({"email": demo.email, "password": demo.password}).decode()
    login = (
        f"curl -s {address}/api/auth/login -H 'Content-Type: application/json' "
        f"-d {shlex.quote(credentials)}"
    )
    token = f"""$({login} | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')"""
    return [
        f"curl -s {address}/v1/voice/health -H 'Authorization: Bearer {demo.test_key}'",
        login,
        f'curl -s {address}/api/developer/scopes -H "Authorization: Bearer {token}"',
    ]
