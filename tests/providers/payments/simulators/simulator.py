"""A payment provider in this process: its money, its hooks, and the ways in which it fails.

    sim = await PaystackSimulator(hook_url).start()
    adapter = provider("paystack", sim.base_url)        # with sim.credentials
    await sim.pay(reference, amount=Decimal(5000))      # somebody transfers
    await sim.tell()                                    # its hooks are sent, in order
    sim.fail_next("500 after", "POST /transfer")        # the next such call, or more of them
    sim.fail_hooks("twice", "reordered")                # what becomes of the next hooks
    await sim.stop()

Amounts are in the currency, whatever the vendor writes.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, Self, TypeAlias
from uuid import UUID

import aiohttp
import msgspec
from aiohttp import web

from tillhouse.providers.payments.provider import PayoutState, ProviderSecrets, RefundState

Json: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[web.Request], Any]

Fault = Literal[
    "500 first",  # fails and executes nothing
    "500 after",  # executes, then fails
    "reset first",  # hangs up and executes nothing
    "reset after",  # executes, then hangs up
    "silence",  # executes nothing until `release`, and never answers in time: it times out
    "silence after",  # executes, and never answers in time
    "delay",  # answers after `release`, having executed at once
    "busy",  # 429
    "truncated",  # executes, and the answer breaks off
    "oversized",  # executes, and the answer has no end
    "no json",  # executes, and answers a page
    "redirect",  # leads elsewhere
    "unknown",  # 404, in its own words
]
HookFault = Literal["lost", "twice", "reordered", "forged", "unsigned", "rewritten"]


_ACCOUNTS = itertools.count(463_433)


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        """The body, which is JSON."""
        return json.loads(self.body, parse_float=Decimal)


class Answered(NamedTuple):
    """An answer as it was meant, and what it was to."""

    method: str
    # As the vendor's papers write it, with names in braces.
    route: str
    status: int
    body: bytes


class Hook(NamedTuple):
    """A hook as it is sent."""

    headers: dict[str, str]
    body: bytes


class Simulator:
    """The parts that every provider has; the vendors' own are in its subclasses."""

    credentials: ProviderSecrets
    # The part of the address before every path.
    prefix = ""

    def __init__(self, hook_url: str | None = None) -> None:
        self.hook_url = hook_url
        self.root = self.base_url = ""
        self.asked: list[Asked] = []
        self.answered: list[Answered] = []
        # Hooks that are still to be sent, and all that ever were.
        self.outbox: list[Hook] = []
        self.told: list[Hook] = []
        # Money that left, each time that it did: reference and amount.
        self.left: list[tuple[str, Decimal]] = []
        self.arrived = asyncio.Event()
        # Books that collect by this account: another simulator is another account.
        self.books: list[UUID] = []
        # The vendor's own number of the account: that of no other simulator.
        self.account_number = next(_ACCOUNTS)
        # Further keys of the account.
        self.more_keys: list[str] = []
        self._faults: list[tuple[Fault, str]] = []
        self._hook_faults: list[HookFault] = []
        self._ids = itertools.count(4_100_000_001)
        self._releases: list[asyncio.Event] = []
        self._held: set[asyncio.Task[Any]] = set()
        self._runner: web.AppRunner | None = None

    async def start(self) -> Self:
        """Listen on a free port."""
        app = web.Application(middlewares=[self._misbehave], client_max_size=1024 * 1024)
        self.add_routes(app.router)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.root = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self.base_url = self.root + self.prefix
        return self

    async def stop(self) -> None:
        """Hang up."""
        await self.release()
        if self._runner is not None:
            await self._runner.cleanup()

    def further_key(self) -> ProviderSecrets:
        """Another key of the same account."""
        key = f"{self.credentials.secrets['secret_key']}-{self.next_id()}"
        self.more_keys.append(key)
        secrets = {**self.credentials.secrets, "secret_key": key}
        return ProviderSecrets(secrets, self.credentials.is_live)

    def takes(self, request: web.Request) -> bool:
        """Whether a request bears one of the account's keys."""
        keys = (self.credentials.secrets["secret_key"], *self.more_keys)
        return request.headers.get("authorization", "").removeprefix("Bearer ") in keys

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add the vendor's routes."""
        raise NotImplementedError

    def refusal(self, words: str, status: int = 404) -> web.Response:
        """A refusal as the vendor writes it."""
        raise NotImplementedError

    def sign(self, body: bytes, *, forged: bool = False) -> dict[str, str]:
        """The headers of a hook with this body."""
        raise NotImplementedError

    async def pay(
        self, reference: str, amount: Decimal | None = None, *, fee: Decimal | None = None
    ) -> str | None:
        """Let somebody pay; the provider's name of the payment, None when it is turned away."""
        raise NotImplementedError

    async def reverse(self, reference: str) -> None:
        """Take a payment back after all, not by a refund of ours."""
        raise NotImplementedError

    async def dispute(self, reference: str, amount: Decimal | None = None) -> str:
        """Let the payer's bank want a payment back; the provider's name of the dispute."""
        raise NotImplementedError

    async def close_dispute(self, dispute_id: str, *, is_won: bool) -> None:
        """Let a dispute come to its end."""
        raise NotImplementedError

    async def finish_payout(self, reference: str, state: PayoutState = "completed") -> None:
        """Let a payout come to its end, or be reversed after it."""
        raise NotImplementedError

    async def finish_refund(self, refund_id: str, state: RefundState = "successful") -> None:
        """Let a refund come to its end, by the provider's name of it."""
        raise NotImplementedError

    def next_id(self) -> int:
        """A number that nothing else has."""
        return next(self._ids)

    def fail_next(self, fault: Fault, calls: str = "*", times: int = 1) -> None:
        """Do this to the next calls such as "POST /transactions/*/refund"."""
        self._faults += [(fault, calls)] * times

    def forgive(self) -> None:
        """Do nothing more to calls."""
        self._faults.clear()

    def fail_hooks(self, *faults: HookFault) -> None:
        """Do this to the hooks that are told next."""
        self._hook_faults += faults

    async def release(self) -> None:
        """Let what was held go on, and wait until it was executed."""
        for event in self._releases:
            event.set()
        self._releases.clear()
        await asyncio.gather(*self._held, return_exceptions=True)

    def queue_hook(self, body: Json) -> None:
        """Have something to tell."""
        raw = written(body)
        self.outbox.append(Hook(self.sign(raw), raw))

    async def tell(self) -> list[int]:
        """Send the hooks that wait, as the faults want it; the statuses that came back."""
        hooks, self.outbox = self.outbox, []
        faults, self._hook_faults = self._hook_faults, []
        for fault in faults:
            hooks = self._spoilt(hooks, fault)
        self.told += hooks
        if self.hook_url is None:
            return []
        statuses: list[int] = []
        async with aiohttp.ClientSession() as session:
            for hook in hooks:
                async with session.post(
                    self.hook_url, data=hook.body, headers=hook.headers
                ) as answer:
                    statuses.append(answer.status)
        return statuses

    def _spoilt(self, hooks: list[Hook], fault: HookFault) -> list[Hook]:
        match fault:
            case "lost":
                return []
            case "twice":
                return [hook for hook in hooks for _ in range(2)]
            case "reordered":
                return hooks[::-1]
            case "forged":
                return [Hook(self.sign(hook.body, forged=True), hook.body) for hook in hooks]
            case "unsigned":
                return [Hook({"content-type": "application/json"}, hook.body) for hook in hooks]
            case "rewritten":
                return [Hook(hook.headers, _rewritten(hook.body)) for hook in hooks]

    def _fault_of(self, call: str) -> Fault | None:
        for place, (fault, calls) in enumerate(self._faults):
            if fnmatchcase(call, calls):
                del self._faults[place]
                return fault
        return None

    @web.middleware
    async def _misbehave(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(
            Asked(request.method, request.rel_url.raw_path, dict(request.query), headers, body)
        )
        self.arrived.set()
        fault = self._fault_of(f"{request.method} {request.path}")
        if fault is None:
            told = await handler(request)
            self._note(request, told)
            return told
        return await self._fail(fault, request, handler)

    def _note(self, request: web.Request, told: web.StreamResponse) -> None:
        resource = request.match_info.route.resource
        if resource is None or not isinstance(told, web.Response):
            return
        body = told.body if isinstance(told.body, bytes) else b""
        self.answered.append(Answered(request.method, resource.canonical, told.status, body))

    async def _fail(
        self, fault: Fault, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        if fault == "unknown":
            return self.refusal("There is no such thing")
        if fault == "silence":
            await self._hold()
        executes = fault not in ("500 first", "reset first", "busy", "redirect")
        answer = await handler(request) if executes else web.Response()
        if fault in ("delay", "silence after"):
            await self._hold()
        return await _SPOILING.get(fault, _as_it_is)(request, answer)

    async def _hold(self) -> None:
        release = asyncio.Event()
        self._releases.append(release)
        task = asyncio.current_task()
        assert task is not None
        self._held.add(task)
        task.add_done_callback(self._held.discard)
        await release.wait()


async def _as_it_is(_request: web.Request, answer: web.Response) -> web.StreamResponse:
    return answer


async def _error(_request: web.Request, _answer: web.Response) -> web.StreamResponse:
    return web.Response(status=500, text="<html>Internal Server Error</html>")


async def _busy(_request: web.Request, _answer: web.Response) -> web.StreamResponse:
    return web.json_response({"message": "Too many requests"}, status=429)


async def _redirect(request: web.Request, _answer: web.Response) -> web.StreamResponse:
    return web.Response(status=307, headers={"location": str(request.url.with_path("/elsewhere"))})


async def _no_json(_request: web.Request, _answer: web.Response) -> web.StreamResponse:
    return web.Response(text="<html>Welcome</html>", content_type="text/html")


async def _reset(request: web.Request, answer: web.Response) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return answer


async def _truncated(request: web.Request, answer: web.Response) -> web.StreamResponse:
    body = answer.body
    assert isinstance(body, bytes)
    half = web.StreamResponse(status=answer.status, headers={"content-type": "application/json"})
    half.content_length = len(body)
    await half.prepare(request)
    await half.write(body[: len(body) // 2])
    return await _reset_stream(request, half)


async def _reset_stream(request: web.Request, half: web.StreamResponse) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return half


async def _oversized(request: web.Request, answer: web.Response) -> web.StreamResponse:
    body = answer.body
    assert isinstance(body, bytes)
    return web.Response(
        status=answer.status, body=body + b" " * 2 * 1024 * 1024, content_type="application/json"
    )


_SPOILING: dict[str, Callable[[web.Request, Any], Any]] = {
    "500 first": _error,
    "500 after": _error,
    "reset first": _reset,
    "reset after": _reset,
    "busy": _busy,
    "redirect": _redirect,
    "no json": _no_json,
    "truncated": _truncated,
    "oversized": _oversized,
}


_write = msgspec.json.Encoder(decimal_format="number").encode


def written(body: object) -> bytes:
    """JSON with exact numbers."""
    return _write(body)


def answer(body: object, status: int = 200) -> web.Response:
    """An answer of an API."""
    return web.Response(status=status, body=written(body), content_type="application/json")


def _rewritten(body: bytes) -> bytes:
    """The same JSON in other bytes, as a framework would write it that parsed it before."""
    return json.dumps(json.loads(body), indent=1).encode()
