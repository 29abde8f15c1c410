"""A room as small as can be that brings along one of everything; the product knows none of it."""

from datetime import timedelta
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.db.pool import Db
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.http.route import Group, Route, Scope
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import new_id
from tillhouse.kit.values import Name
from tillhouse.room import Room
from tillhouse.webhooks.emit import emit

TABLE = """
    CREATE TABLE toys (
        book_id uuid NOT NULL REFERENCES books,
        id uuid NOT NULL,
        name text NOT NULL,
        is_painted boolean NOT NULL DEFAULT false,
        PRIMARY KEY (book_id, id),
        CONSTRAINT toys_name_key UNIQUE (book_id, name)
    );
    CREATE TABLE toy_counts (count bigint NOT NULL, counted_at timestamptz NOT NULL)
"""


class NewToy(msgspec.Struct, forbid_unknown_fields=True):
    """A toy to be made."""

    name: Name


class Toy(msgspec.Struct, frozen=True, rename="camel"):
    """A toy."""

    id: UUID
    name: str
    is_painted: bool


class ToyData(msgspec.Struct, rename="camel"):
    """The data of a toy's events."""

    toy_id: UUID
    name: str


TOY_MADE = EventType("toy.made", "A toy was made", "Toys", ToyData)


async def list_toys(call: Call) -> list[Toy]:
    """List toys."""
    sql = "SELECT id, name, is_painted FROM toys WHERE book_id = $1 ORDER BY id"
    rows = await call.db.fetch(sql, call.book.id)
    return [Toy(**row) for row in rows]


async def make_toy(call: Call, body: NewToy) -> Toy:
    """Make a toy."""
    toy = Toy(new_id(), body.name, is_painted=False)
    sql = "INSERT INTO toys (book_id, id, name) VALUES ($1, $2, $3)"
    await call.db.execute(sql, call.book.id, toy.id, toy.name)
    await emit(call, TOY_MADE, ToyData(toy.id, toy.name))
    return toy


async def show_window(services: Services, _asked: RawRequest) -> RawAnswer:
    """A page for people: how many toys there are."""
    async with services.pool.reading() as db:
        count = await db.fetchval("SELECT count(*) FROM toys")
    return RawAnswer("text/plain", b"%d toys" % count)


async def count_toys(db: Db, _job: Job) -> bool:
    """A chore: note how many toys there are, and forget what was noted long ago."""
    await db.execute("DELETE FROM toy_counts WHERE counted_at < $1", now() - timedelta(days=1))
    await db.execute("INSERT INTO toy_counts SELECT count(*), $1 FROM toys", now())
    return False


def chores(_services: Services) -> tuple[LocalKind, ...]:
    """Counting is done once an hour."""
    return (LocalKind(name="toy_counts", run=count_toys, every=timedelta(hours=1)),)


async def painter(services: Services) -> Worker:
    """A worker: paints every toy."""

    async def paint() -> bool:
        async with services.pool.transaction() as db:
            await db.execute("UPDATE toys SET is_painted = true WHERE NOT is_painted")
        return False

    return Worker("painter", paint, poll_s=0.01)


TOYS = Room(
    name="toys",
    routes=(
        Route("GET", "/v1/toys", list_toys, Scope("toys:read"), "List toys", "Toys"),
        Route(
            "POST",
            "/v1/toys",
            make_toy,
            Scope("toys:write"),
            "Make a toy",
            "Toy made",
            status=201,
            idempotent=True,
        ),
    ),
    groups=(Group("/v1/toys", "Toys", "What children play with."),),
    pages=lambda: (RawRoute(method="GET", path="/toys/window", handler=show_window),),
    events=(TOY_MADE,),
    scopes=pair("toys", ("toys", "Toys"), "low", readers=("cashier",)),
    kept_tables=("toys",),
    swept_tables={"toy_counts": "toy_counts"},
    refusals=(taken("toys_name_key", "There is a toy of this name already: choose another."),),
    chores=chores,
    workers=(painter,),
)
