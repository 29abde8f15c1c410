"""`tillhouse doctor`: the settings, unsafe and broken parts, and how to mend them."""

import os
import stat
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
import typer
from rich.console import Group

from tillhouse.access.usage import MIB
from tillhouse.access.vault import open_vault
from tillhouse.cli import installation as grounds
from tillhouse.cli.installation import Installation
from tillhouse.cli.kept_backups import age_of_newest
from tillhouse.cli.mail import look_at_mail
from tillhouse.cli.output import AsJson, CommandError, Data, print_result, stderr_console, table
from tillhouse.cli.running import ended_by_signals
from tillhouse.cli.stopping import run_until_told
from tillhouse.db.cluster import EmbeddedError
from tillhouse.db.migrate import MigrationError, plan
from tillhouse.db.pool import Pool
from tillhouse.developer.beyond import granted_pairs
from tillhouse.developer.store.keys import list_beyond
from tillhouse.folios.returning.store import STUCK_STAY_REFUNDS
from tillhouse.jobs.chores import DEAD_KEPT_FOR
from tillhouse.jobs.store import list_dead
from tillhouse.kit.clock import iso, now
from tillhouse.kit.network import is_loopback
from tillhouse.orders.returning.store import STUCK_REFUNDS
from tillhouse.payins.proof import APPLIED_WITHIN
from tillhouse.payins.store.waiting import count_waiting
from tillhouse.payouts.withdrawals.store.proving import STUCK_WITHDRAWALS
from tillhouse.settings import MEANINGS, PREFIX, SettingError, Settings
from tillhouse.voice.speech.engines import describe

State = Literal["fine", "unsafe", "broken"]
_SECRET = ("MASTER_KEY", "SMTP_URL", "BACKUP_PASSPHRASE", "SPEAKING_KEY", "HEARING_KEY")
# Of those that are too wide; when these are mended, the next are shown.
_KEYS_SHOWN = 100
_MARKS: dict[State, str] = {"fine": "ok", "unsafe": "UNSAFE", "broken": "BROKEN"}


class SettingShown(msgspec.Struct, frozen=True):
    """One setting: its value, unless it is secret, and where it comes from."""

    name: str
    value: str | None
    source: str
    meaning: str


class Finding(msgspec.Struct, frozen=True):
    """One thing looked at."""

    state: State
    about: str
    message: str


TestMail = Annotated[str | None, typer.Option("--mail", help="Send a test mail there.")]


def doctor(*, data: Data = None, mail: TestMail = None, as_json: AsJson = False) -> None:
    """Tell what is set, what is unsafe and what is broken; exit code 1 when something is."""
    shown: list[SettingShown] = []
    try:
        settings = grounds.settings_with(data=data)
        shown = show_settings(settings, os.environ)
        findings = [*judge(settings), *_speech(settings), *_files(settings), *_backups(settings)]
        findings += [Finding(state, "mail", told) for state, told in look_at_mail(settings, mail)]
        findings += _look_at_database(settings)
    except SettingError as error:
        findings = [Finding("broken", "settings", str(error))]
    rows = [(s.name, s.value, s.source) for s in shown]
    parts = Group(
        table(("Setting", "Value", "From"), rows),
        "",
        table(("", "About", ""), [(_MARKS[f.state], f.about, f.message) for f in findings]),
    )
    result = {"settings": shown, "findings": findings}
    print_result(result, as_json=as_json, shown=parts)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


def show_settings(settings: Settings, environ: Mapping[str, str]) -> list[SettingShown]:
    """Every setting, with the secret ones only as set or not."""
    shown: list[SettingShown] = []
    for name, meaning in MEANINGS.items():
        value = getattr(settings, name.lower())
        if value is not None and name in _SECRET:
            text = "set"
        elif name == "DATABASE_URL" and value is not None:
            text = grounds.without_password(value)
        elif isinstance(value, tuple):
            text = ", ".join(map(str, value)) or None  # pyright: ignore[reportUnknownArgumentType]
        else:
            text = None if value is None else str(value)
        shown.append(SettingShown(PREFIX + name, text, _source(name, environ), meaning))
    return shown


def judge(settings: Settings) -> list[Finding]:
    """Risks that follow from the settings alone."""
    is_https = settings.public_url.startswith("https://")
    risks = (
        (not is_https and not _stays_here(settings), "TLS",
         "Passwords and keys come in without encryption: put a proxy with TLS in front "
         "and set TILLHOUSE_PUBLIC_URL to its https address."),
        (os.geteuid() == 0, "root",
         "Tillhouse runs as root, and needs none of its rights: give it a user of its own."),
        (is_https and not settings.trusted_proxies, "TRUSTED_PROXIES",
         "Behind a proxy every caller seems to have its address: set "
         "TILLHOUSE_TRUSTED_PROXIES to the proxy's."),
        (any(network.prefixlen == 0 for network in settings.trusted_proxies), "TRUSTED_PROXIES",
         "Every caller can claim any address: name the proxy's only."),
        (settings.rate_limit == 0, "RATE_LIMIT",
         "One caller can take everything: set TILLHOUSE_RATE_LIMIT to 100 or so."),
        (settings.registration_limit == 0, "REGISTRATION_LIMIT",
         "Anybody can register without end: set TILLHOUSE_REGISTRATION_LIMIT to 20 or so."),
        # Addresses inside that every business may have dialled.
        (settings.webhook_allow_targets, "WEBHOOK_ALLOW_TARGETS",
         "Webhooks may reach addresses that are not public: "
         "unset TILLHOUSE_WEBHOOK_ALLOW_TARGETS outside development."),
        (settings.voice_allow_targets, "VOICE_ALLOW_TARGETS",
         "Every business may have calls dialled to addresses that are not public: leave "
         "TILLHOUSE_VOICE_ALLOW_TARGETS to telephones of your own, or unset it."),
        (settings.model_allow_targets, "MODEL_ALLOW_TARGETS",
         "Every business may have models asked at addresses that are not public: leave "
         "TILLHOUSE_MODEL_ALLOW_TARGETS to models of your own, or unset it."),
        ((settings.media_url or "").startswith("ws://"), "MEDIA_URL",
         "Twilio connects the sound of calls to wss:// alone: put a proxy before it."),
    )  # fmt: skip
    return [Finding("unsafe", about, message) for is_there, about, message in risks if is_there]


def _speech(settings: Settings) -> list[Finding]:
    """The engines of calls with sound; simulated calls need none."""
    speaks, hears = describe(settings)
    spoken = (
        f"spoken by {speaks}"
        if speaks
        else (
            "no engine speaks: install espeak-ng or set TILLHOUSE_SPEAKING_URL, or else agents "
            "need sounds of their own to call telephones"
        )
    )
    heard = (
        f"heard by {hears}"
        if hears
        else ("words are not heard, keys are: install pocketsphinx or set TILLHOUSE_HEARING_URL")
    )
    return [Finding("fine", "calls", spoken), Finding("fine", "calls", heard)]


def _stays_here(settings: Settings) -> bool:
    """Whether only this machine can connect, and is told to."""
    hosts = (settings.host, urlsplit(settings.public_url).hostname or "")
    return all(host == "localhost" or is_loopback(host) for host in hosts)


def _backups(settings: Settings) -> list[Finding]:
    """Whether the newest backup is as young as the schedule wants it."""
    every = settings.backup_every_hours
    if every == 0:
        message = "None by schedule: TILLHOUSE_BACKUP_EVERY_HOURS sets one."
        return [Finding("fine", "backups", message)]
    age = age_of_newest(settings)
    if age is None or age > timedelta(hours=2 * every):
        last = "none yet" if age is None else f"the newest is {age // timedelta(hours=1)} hours old"
        message = (
            f"One is due every {every} hours, and there is {last}: see `backup_failed` in the log."
        )
        return [Finding("unsafe", "backups", message)]
    if settings.backup_passphrase is None:
        message = "Only the master key opens them: set TILLHOUSE_BACKUP_PASSPHRASE."
        return [Finding("unsafe", "backups", message)]
    return [Finding("fine", "backups", f"The newest is {age // timedelta(hours=1)} hours old.")]


def _source(name: str, environ: Mapping[str, str]) -> str:
    if environ.get(PREFIX + name):
        return "environment"
    return "file" if environ.get(f"{PREFIX}{name}_FILE") else "default"


def _files(settings: Settings) -> list[Finding]:
    """Whether only their owner can read the data and the key."""
    if settings.database_url is not None or not settings.data.exists():
        return []
    found: list[Finding] = []
    for path in (settings.data, settings.data / "master.key"):
        # Another user's server may have to pass through the folder; to list it is something else.
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o066:
            message = f"Others can read {path}: run `chmod go-rw {path}`."
            found.append(Finding("unsafe", "DATA", message))
    return found or [Finding("fine", "DATA", f"{settings.data} is private.")]


def _look_at_database(settings: Settings) -> list[Finding]:
    if settings.database_url is None and not (settings.data / "postgres").exists():
        return [Finding("fine", "database", "None yet: `tillhouse serve` makes one in DATA.")]
    try:
        with (
            ended_by_signals() as stop,
            stderr_console().status("Opening the database …"),
            grounds.running_database(settings, stop) as installation,
        ):
            return run_until_told(_examine(installation), stop)
    except (CommandError, EmbeddedError, MigrationError, SettingError) as error:
        return [Finding("broken", "database", str(error))]


async def _examine(installation: Installation) -> list[Finding]:
    connection = await grounds.connect(installation)
    try:
        version = connection.get_settings().server_version
        pending = await plan(connection)
    finally:
        await connection.close()
    kind = "embedded" if installation.embedded else "external"
    text = f"PostgreSQL {version} answers ({kind})."
    found = [Finding("fine", "database", text)]
    if pending:
        names = ", ".join(migration.label for migration in pending)
        message = f"Missing: {names}. Run `tillhouse migrate` (`tillhouse serve` does so, too)."
        return [*found, Finding("unsafe", "migrations", message)]
    found.append(Finding("fine", "migrations", "The schema is up to date."))
    pool = await Pool.open(installation.database_url, size=1)
    try:
        await open_vault(pool, await grounds.master_key(installation))
        found.append(Finding("fine", "MASTER_KEY", "It opens this database."))
        found += [*await _dead_jobs(pool), *await _waiting_money(pool)]
        return [*found, *await _keys(pool), *await _storage(pool, installation.settings)]
    except (CommandError, SettingError) as error:
        return [*found, Finding("broken", "MASTER_KEY", str(error))]
    finally:
        await pool.close()


async def _dead_jobs(pool: Pool) -> list[Finding]:
    """The jobs that were given up lately, with the reasons."""
    async with pool.reading() as db:
        rows = await list_dead(db, now() - DEAD_KEPT_FOR)
    found = [
        Finding(
            "unsafe",
            "jobs",
            f"{row['count']} of kind {row['kind']} given up, the last on {iso(row['last_at'])}: "
            f"{row['last_reason']}. Mend the cause; the rows in `jobs` say what was left undone.",
        )
        for row in rows
    ]
    return found or [Finding("fine", "jobs", f"None was given up in {DEAD_KEPT_FOR.days} days.")]


async def _waiting_money(pool: Pool) -> list[Finding]:
    """Unapplied payments, and withdrawals and refunds that nothing brings to their end."""
    async with pool.reading() as db:
        payins = await count_waiting(db, now() - APPLIED_WITHIN)
        withdrawals = await STUCK_WITHDRAWALS.count(db)
        refunds = await STUCK_REFUNDS.count(db)
        of_stays = await STUCK_STAY_REFUNDS.count(db)
    found = [
        Finding(
            "unsafe",
            "money",
            f"{row['count']} {what} in {row['books']} environments: "
            "run `tillhouse reconcile --plan`, then `--repair`.",
        )
        for row, what in (
            (payins, "payments wait to be applied"),
            (withdrawals, "withdrawals have no job any more"),
            (refunds, "refunds have no job any more"),
            (of_stays, "refunds of stays have no job any more"),
        )
        if row["count"]
    ]
    return found or [Finding("fine", "money", "No payment, withdrawal or refund is stuck.")]


async def _keys(pool: Pool) -> list[Finding]:
    """API keys that may move money though the role of their maker may not let a key do so."""
    # The application is loaded to look into a database, and not for the help.
    from tillhouse.app import PRODUCT  # noqa: PLC0415

    async with pool.reading() as db:
        granted = granted_pairs(PRODUCT.declared.scopes)
        rows = await list_beyond(db, granted, now(), _KEYS_SHOWN)
    found = [
        Finding(
            "unsafe",
            "keys",
            f"API key {row['id']} ({row['name']}, {row['environment']}, of business "
            f"{row['business_id']}) has {', '.join(row['beyond'])}, made by "
            + (f"a {row['role']}" if row["role"] else "somebody who is no member any more")
            + ": let an owner rotate it to keep it, or revoke it.",
        )
        for row in rows
    ]
    return found or [Finding("fine", "keys", "No API key may do what its maker may not grant.")]


async def _storage(pool: Pool, settings: Settings) -> list[Finding]:
    """How much is stored of each limited kind, and how many environments are full of it."""
    found: list[Finding] = []
    # The application is loaded to look into a database, and not for the help.
    from tillhouse.app import PRODUCT, stored_kinds  # noqa: PLC0415

    for kind in stored_kinds(PRODUCT):
        async with pool.reading() as db:
            stored = await kind.counts.measure(db, kind.limits(settings))
        names = f"{PREFIX}{kind.rows_setting} and {PREFIX}{kind.mib_setting}"
        told = f"{stored.rows:,} {kind.name} take {stored.bytes / MIB:,.1f} MiB"
        full = len({*stored.full_by_rows, *stored.full_by_bytes})
        if full:
            message = f"{told}. {full} environments are full, and more is refused: see {names}."
            found.append(Finding("unsafe", "storage", message))
        else:
            found.append(Finding("fine", "storage", f"{told}; {names} limit them."))
    return found
