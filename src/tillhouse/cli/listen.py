"""`tillhouse listen`: follow a book's events, and pass them on to a program on this machine."""

import contextlib
import sys
from typing import Annotated
from urllib.parse import urlsplit

import aiohttp
import msgspec
import typer
from yarl import URL

from tillhouse.cli.installation import settings_without_key
from tillhouse.cli.listen_client import ListenClient, Login, ReceivedEvent
from tillhouse.cli.output import CommandError, stderr_console
from tillhouse.cli.stopping import Stop, run_until_told
from tillhouse.kit.clock import now
from tillhouse.kit.ids import EventId
from tillhouse.kit.secrets import Environment, parse_api_key
from tillhouse.webhooks import signing

FORWARDED_WITHIN_S = 10


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command."""

    url: str
    environment: Environment
    events: str | None
    forward_to: str | None
    as_json: bool


def listen(  # noqa: PLR0913 - one argument an option
    *,
    forward_to: Annotated[
        str | None, typer.Option(help="Where to POST each event; path and query are kept.")
    ] = None,
    events: Annotated[
        str | None, typer.Option(help="Only these types, with commas between them.")
    ] = None,
    environment: Annotated[
        Environment | None, typer.Option(help="Whose events; test, or the key's.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="The server; else TILLHOUSE_PORT of this machine.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="An API key with events:read.")] = None,
    email: Annotated[str | None, typer.Option(help="Log in; the password is asked for.")] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from a pipe.")
    ] = False,
    secret: Annotated[
        str | None, typer.Option(help="Sign with this secret; a login finds its own.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print payloads, one a line.")] = False,
) -> None:
    """Print the events of a business as they happen; with --forward-to, deliver them here."""
    if (key is None) == (email is None):
        raise typer.BadParameter("give --key, or --email to log in")
    if forward_to is not None and urlsplit(forward_to).scheme not in ("http", "https"):
        raise typer.BadParameter("--forward-to must begin with http:// or https://")
    who = Login(email, _password(from_stdin=password_stdin)) if email is not None else key or ""
    wish = Options(
        url=(url or _here()).rstrip("/"),
        environment=_environment(key, environment),
        events=events,
        forward_to=forward_to,
        as_json=as_json,
    )
    stop = Stop()
    stop.install()
    with contextlib.suppress(KeyboardInterrupt):
        run_until_told(_listen(wish, who, secret), stop)


def _here() -> str:
    """The server on this machine."""
    return f"http://127.0.0.1:{settings_without_key().port}"


def _environment(key: str | None, wanted: Environment | None) -> Environment:
    if key is None:
        return wanted or "test"
    parsed = parse_api_key(key)
    if parsed is None:
        raise typer.BadParameter("--key is no API key: it begins with thsk_test_ or thsk_live_")
    if wanted not in (None, parsed.environment):
        raise typer.BadParameter(f"that key is of {parsed.environment}, not of {wanted}")
    return parsed.environment


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("There is nobody to ask for the password: pipe it to --password-stdin.")
    return stderr_console().input("Password: ", password=True)


async def _listen(wish: Options, who: Login | str, secret: str | None) -> None:
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        client = ListenClient(session, wish.url, wish.environment)
        await client.enter(who)
        if wish.forward_to is not None and secret is None and isinstance(who, Login):
            secret = await client.signing_secret(who)
        _say(wish, is_signed=secret is not None)
        async for event in client.events(wish.events, _tell):
            status = await _forward(session, wish.forward_to, event, secret)
            _show(wish, event, status)


def _say(wish: Options, *, is_signed: bool) -> None:
    _tell(f"Environment {wish.environment} at {wish.url}; Ctrl-C stops.")
    if wish.forward_to is not None:
        _tell(f"Events go to {wish.forward_to}.")
        if not is_signed:
            _tell("They are not signed: a key can't read the secret. Use --secret, or --email.")


def _tell(text: str) -> None:
    stderr_console().print(text, markup=False, soft_wrap=True)


def _show(wish: Options, event: ReceivedEvent, status: str | None) -> None:
    """A line per event; payloads alone where programs read."""
    if wish.as_json:
        sys.stdout.write(event.payload.decode() + "\n")
        if status is not None:
            _tell(f"{event.id}  {status}")
    else:
        passed_on = f"  {status}" if status is not None else ""
        moment = now().astimezone().strftime("%H:%M:%S")
        sys.stdout.write(f"{moment}  {event.type}  {event.id}{passed_on}\n")
    sys.stdout.flush()


async def _forward(
    session: aiohttp.ClientSession, target: str | None, event: ReceivedEvent, secret: str | None
) -> str | None:
    """Deliver as the sender would, once; the status that came back, or why none did."""
    if target is None:
        return None
    at = int(now().timestamp())
    headers = signing.headers(secret or "", EventId(event.id), event.type, event.payload, at)
    if secret is None:
        for name in ("Service-Signature", "webhook-signature"):
            del headers[name]
    within = aiohttp.ClientTimeout(total=FORWARDED_WITHIN_S)
    try:
        async with session.post(
            URL(target, encoded=True), data=event.payload, headers=headers,
            allow_redirects=False, timeout=within,
        ) as answer:  # fmt: skip
            return str(answer.status)
    except TimeoutError:
        return "timeout"
    except (aiohttp.ClientError, OSError) as error:
        return f"failed ({error})"
