"""`tillhouse import orders`: sales of another system, from a file; each order once."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Annotated, Self

import msgspec
import typer
from rich.progress import (
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.books import books_of
from tillhouse.cli.order_rows import ERRORS, OrderDraft, OrderFile
from tillhouse.cli.output import (
    AsJson,
    CommandError,
    Data,
    print_result,
    stderr_console,
)
from tillhouse.cli.rows import Bar, RowError, refuse
from tillhouse.cli.running import run
from tillhouse.jobs.chores import fold
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.json import encode
from tillhouse.kit.secrets import Environment
from tillhouse.orders.importing.actions import ReadyOrder, judge, record_all
from tillhouse.orders.listing.store.tallies import ORDER_TALLIES
from tillhouse.orders.recording.rules.sale import StockOfPast
from tillhouse.orders.storage.filling import Filling
from tillhouse.webhooks.emit import Source

# So many at a time are judged together: few enough to hold, enough to share their facts.
BATCH_ORDERS = 200
BATCH_LINES = 2_000
# A file with more mistakes than this gets the first of them.
ERRORS_MAX = 10_000

_SOME_LEFT = (
    "were refused when they were to be recorded; the others are there. Mend them, try again."
)


def orders(  # noqa: PLR0913 - options of a command
    file: Annotated[Path, typer.Argument(help="CSV or JSON lines (.jsonl), in UTF-8.")],
    *,
    business: Annotated[str, typer.Option(help="Id of the business.")],
    environment: Annotated[Environment, typer.Option(help="Which of its books.")],
    now: Annotated[
        bool, typer.Option("--now", help="Take orders without occurred_at as sold now.")
    ] = False,
    skip_wrong: Annotated[
        bool, typer.Option("--skip-wrong", help="Write wrong orders to FILE.wrong.jsonl, go on.")
    ] = False,
    stock: Annotated[
        StockOfPast,
        typer.Option(
            help="Whether old sales take stock: auto leaves alone what was counted since."
        ),
    ] = "auto",
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Record old sales from a file, each once: a second run goes on where the first ended.

    JSON lines: an order per line, with the fields of POST /v1/orders, row_key, and perhaps
    customer_phone and product_sku in its items. CSV: a row per line of an order; rows of one
    order follow one another and share row_key. Columns: row_key, quantity, product_sku or
    product_name with custom_price, and perhaps occurred_at, line_type, customer_name,
    customer_phone, payment_method, amount_paid, discount_amount, service_charge_amount, channel,
    store_name, tags (split by |), notes.
    """
    business_id = BusinessId(given.id_of("--business", business))
    read = OrderFile(file)

    async def work(services: Services) -> _Run:
        async with services.pool.reading() as db:
            books = await books_of(db, business_id)
        origin = Source(business_id, Book(books.of(environment), environment))
        with _WrongOrders(file, is_wanted=skip_wrong) as wrong:
            importing = _Run(services, origin, read, wrong, stock)
            await importing.check(takes_now=now)
            if not read.broken and (skip_wrong or not importing.counts.wrong):
                await importing.record_if_it_fits()
        return importing

    done = run(work, data)
    _tell(done, {"environment": environment}, as_json=as_json, skip_wrong=skip_wrong)


class ImportCounts(msgspec.Struct):
    """The counts of an import: rows read, and their results."""

    orders: int = 0
    created: int = 0
    unchanged: int = 0
    wrong: int = 0


class _Run:
    """One import: the file is checked wholly, then recorded."""

    def __init__(
        self,
        services: Services,
        origin: Source,
        file: OrderFile,
        wrong: "_WrongOrders",
        stock: StockOfPast,
    ) -> None:
        self.file = file
        self.counts = ImportCounts()
        self.errors: list[RowError] = []
        self.wrong = wrong
        self.has_begun = False
        self.filling = Filling(services, origin.book.id)
        # The setting that left no room for all that is new.
        self.full_by: str | None = None
        self._services = services
        self._origin = origin
        self._stock: StockOfPast = stock
        # The places of wrong orders in the file.
        self._wrong_indices: set[int] = set()
        self._there = 0

    async def check(self, *, takes_now: bool) -> None:
        """Judge every order by its form, by the others, and by the rows of the book."""
        lines_of: dict[str, int] = {}
        index = 0
        with Bar("Checking", self.file.size, _BYTES, is_kept=True) as done:
            for batch in _batches(self.file.orders(done)):
                values = [draft.value for draft in batch]
                verdicts = await judge(
                    self._services, self._origin, values, by_rules=True, takes_now=takes_now
                )
                for draft, verdict in zip(batch, verdicts, strict=True):
                    faults = verdict.faults if draft.text is None else []
                    errors = draft.errors_of(faults)
                    errors += _repeated(draft, verdict.row_key, lines_of)
                    if errors:
                        self._wrong_indices.add(index)
                        self._refuse(draft, errors)
                    elif verdict.is_there:
                        self._there += 1
                    index += 1
        self.counts.orders = index
        self.errors = [*self.file.broken, *self.errors]

    async def record_if_it_fits(self) -> None:
        """Record the valid new orders, if the book may hold so many more."""
        left = self.counts.orders - self.counts.wrong - self._there
        if not left or not await self._is_full(left):
            self.has_begun = True
            await self._record_all(left)

    async def _record_all(self, left: int) -> None:
        right = (
            draft
            for index, draft in enumerate(self.file.orders(lambda _: None))
            if index not in self._wrong_indices
        )
        with Bar("Recording", left, _ORDERS, is_kept=True) as done:
            for batch in _batches(right):
                await self._record(batch, done)
                if self.full_by:
                    break
        # The senders are other processes: a command has no worker that hears its notifier.
        await self._services.pool.notify()
        # Figures of lists add up the changes since the last folding: these are many now.
        await fold(self._services.pool, ORDER_TALLIES)

    async def _record(self, batch: list[OrderDraft], done: Callable[[int], None]) -> None:
        values = [draft.value for draft in batch]
        verdicts = await judge(self._services, self._origin, values, by_rules=False)
        ready: list[ReadyOrder] = []
        drafts: list[OrderDraft] = []
        for draft, verdict in zip(batch, verdicts, strict=True):
            if verdict.ready is not None:
                ready.append(verdict.ready)
                drafts.append(draft)
            elif verdict.is_there:
                self.counts.unchanged += 1
            else:
                self._refuse(draft, draft.errors_of(verdict.faults))
        if ready and await self._is_full(len(ready)):
            return
        results = await record_all(self._services, self._origin, ready, done, self._stock)
        for draft, result in zip(drafts, results, strict=True):
            if result.faults:
                self._refuse(draft, draft.errors_of(result.faults))
            elif result.is_there:
                self.counts.unchanged += 1
            else:
                self.counts.created += 1

    async def _is_full(self, wanted: int) -> bool:
        """Whether a quota leaves no room for so many more orders, by a count of this moment."""
        await self.filling.count()
        self.full_by = self.filling.setting_without_room(wanted)
        return self.full_by is not None

    def _refuse(self, draft: OrderDraft, errors: list[RowError]) -> None:
        self.counts.wrong += 1
        self.errors += errors[: ERRORS_MAX - len(self.errors)]
        self.wrong.add(draft, errors)


def _repeated(draft: OrderDraft, key: str | None, lines_of: dict[str, int]) -> list[RowError]:
    """Whether an order before has the key."""
    if key is None:
        return []
    line = lines_of.setdefault(key, draft.line)
    if line == draft.line:
        return []
    reason = f"is that of the order in line {line}; the rows of one order follow one another"
    return [RowError(draft.line, "row_key", reason)]


def _batches(drafts: Iterator[OrderDraft]) -> Iterator[list[OrderDraft]]:
    batch: list[OrderDraft] = []
    lines = 0
    for draft in drafts:
        batch.append(draft)
        items = draft.value.get("items")
        lines += len(items) if isinstance(items, list) else 1
        if len(batch) >= BATCH_ORDERS or lines >= BATCH_LINES:
            yield batch
            batch, lines = [], 0
    if batch:
        yield batch


def _tell(done: _Run, result: dict[str, object], *, as_json: bool, skip_wrong: bool) -> None:
    """The result, or the refusal."""
    counts = done.counts
    result |= msgspec.structs.asdict(counts)
    path, columns = done.file.path, done.file.columns
    if done.file.broken or (counts.wrong and not done.has_begun):
        if len(done.errors) >= ERRORS_MAX:
            stderr_console().print(f"These are the first {ERRORS_MAX} mistakes.")
        raise refuse(path, columns, done.errors, as_json=as_json)
    if done.full_by is not None:
        raise _refuse_full(done, result, as_json=as_json)
    if counts.wrong and not skip_wrong:
        raise refuse(path, columns, done.errors, as_json=as_json, counts=result, outcome=_SOME_LEFT)
    shown = f"Orders: {counts.created} recorded, {counts.unchanged} were there already."
    if counts.wrong:
        shown += f" {counts.wrong} are wrong: mend them in {done.wrong.path}, then import that."
        result["wrongFile"] = str(done.wrong.path)
    print_result(result, as_json=as_json, shown=shown)


def _refuse_full(done: _Run, result: dict[str, object], *, as_json: bool) -> CommandError:
    """The refusal of orders for which a quota leaves no room."""
    if as_json:
        print_result({**result, "fullBy": done.full_by}, as_json=True, shown="")
    recorded = f"{done.counts.created} of them were recorded, the others weren't"
    outcome = recorded if done.has_begun else "nothing was imported"
    return CommandError(
        f"The new orders of {done.file.path} don't fit: the environment holds "
        f"{done.filling.told()}; {outcome}. Raise {done.full_by}, then import the file again."
    )


class _WrongOrders:
    """The file of faults, if it is wanted: orders as they can be mended and imported."""

    def __init__(self, path: Path, *, is_wanted: bool) -> None:
        self.path = path.with_name(path.name + ".wrong.jsonl")
        self._is_wanted = is_wanted
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Forget those of an earlier run: remaining faults come again."""
        if self._is_wanted:
            self.path.unlink(missing_ok=True)
        return self

    def add(self, draft: OrderDraft, errors: list[RowError]) -> None:
        """Write one order with its faults."""
        if not self._is_wanted:
            return
        if self._file is None:
            self._file = self.path.open("wb")
        order = draft.value if draft.text is None else {"text": draft.text}
        self._file.write(encode({**order, ERRORS: errors}) + b"\n")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()


class _Rate(ProgressColumn):
    """How many in a second."""

    def render(self, task: Task) -> Text:
        """As a number."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="progress.data.speed")


_BYTES = (TaskProgressColumn(), TimeRemainingColumn())
_ORDERS = (MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
