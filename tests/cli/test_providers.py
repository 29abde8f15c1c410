"""`tillhouse providers`: connected, checked, selected and disconnected from the command line."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.cli.command import Command
from tests.providers.payments.simulators.paystack import PaystackSimulator

SECRET = "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"


@pytest.fixture
async def paystack() -> AsyncIterator[PaystackSimulator]:
    """Paystack in this process, which knows the secret."""
    simulator = await PaystackSimulator(secret_key=SECRET).start()
    yield simulator
    await simulator.stop()


async def test_a_provider_is_connected_checked_selected_and_forgotten(
    command: Command, business: str, paystack: PaystackSimulator
) -> None:
    """Its secret comes by a pipe, and is shown by nothing."""
    asking = Command(command.data, PROVIDER_URLS=f"paystack={paystack.base_url}")

    async def run(verb: str, *args: str, code: int = 0, secret: str | None = None) -> str:
        """The output of a command, in the words of people."""
        words = ("providers", verb, business, *args)
        pipe = None if secret is None else f"secret_key={secret}\n"
        done = await asyncio.to_thread(asking.run, *words, code=code, pipe=pipe)
        assert SECRET not in done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "refuses" in await run("connect", "paystack", code=1, secret=SECRET[:-1] + "b")
    assert "test" in await run("connect", "paystack", code=1, secret="sk_test_5f2c1b7e9a0d4c3e")
    listed = command.json("providers", "list", business)["providers"]
    assert {one["status"] for one in listed} == {"disconnected"}
    told = await run("connect", "paystack", secret=SECRET)
    assert "paystack is connected. Let it call http" in told
    assert "paystack is connected, and selected." in await run("check", "paystack")
    off = await run("select", "paystack", "--off")
    assert "paystack is connected, and not selected." in off
    assert "paystack is connected, and not selected." in await run("check", "paystack")
    assert "paystack is connected, and selected." in await run("select", "paystack")
    await paystack.stop()
    await run("check", "paystack", code=1)
    assert "paystack is disconnected" in await run("disconnect", "paystack")
    await run("check", "paystack", code=1)
    assert "PROVIDER must be one of" in await run("check", "nobody", code=2)
