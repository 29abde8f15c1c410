"""The demo business: the same each time, also when two make it at once."""

import json
from pathlib import Path

import asyncpg

from tests.cli.command import Command
from tillhouse.db.embedded import Embedded


def test_two_first_starts_at_once_make_one_demo(tmp_path: Path) -> None:
    """On an empty machine two demos at once make one server, one key, one business."""
    command = Command(tmp_path / "data")
    processes = [command.start("demo", "--json") for _ in range(2)]
    answers = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
    assert answers[0]["email"] == "demo@tillhouse.example"
    # Nobody uses the server any more: it was stopped.
    assert not (tmp_path / "data" / "postgres" / "postmaster.pid").exists()
    assert command.json("demo") == answers[0]


async def test_a_changed_password_is_set_again(command: Command, embedded: Embedded) -> None:
    """The password that is told is the one that opens."""
    made = command.json("demo")
    assert made["isPasswordReset"] is False
    new = "something else entirely\n"
    command.run("user", "password", made["email"], "--password-stdin", pipe=new)
    assert command.json("demo") == made | {"isPasswordReset": True}
    assert command.json("demo") == made
    connection = await asyncpg.connect(embedded.url)
    try:
        count = await connection.fetchval(
            "SELECT count(*) FROM businesses WHERE name = 'Tillhouse Demo'"
        )
    finally:
        await connection.close()
    assert count == 1
