"""`make vendors`: the vendors' own clients run against our simulators, and judge our signatures.

Needs node with npm, and the package registries of both languages; everything is made in a
temporary folder, and spoken to on loopback only. The clients are those of flutterwave-node-v3 (the
last that reports nothing elsewhere), paystack-sdk, monnify-python, twilio and openai; Stripe's
runs in the tests.

`--papers folder` also judges by Paystack's published description and hooks, when the folder holds
`paystack.yaml` and `PaymentChannelCreatePayWithTransferChargeResponse.yaml` (PaystackOSS/openapi,
MIT) and, in `hooks`, the sample hooks of PaystackOSS/doc-code-snippets.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from urllib.parse import parse_qsl

from tests.providers.payments.simulators.flutterwave import FlutterwaveSimulator
from tests.providers.payments.simulators.monnify import MonnifySimulator
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.telephony.twilio.simulator import TwilioSimulator

from judges.vendors.localstripe_hooks import judge_localstripe
from judges.vendors.models import judge_models
from judges.vendors.papers import BY_TRANSFER, judge_openapi, judge_samples

HERE = Path(__file__).parent
_CLIENTS: dict[str, tuple[type[Simulator], tuple[str, str]]] = {
    "flutterwave": (FlutterwaveSimulator, ("node", "flutterwave_client.js")),
    "paystack": (PaystackSimulator, ("tools/bin/python", "paystack_client.py")),
    "monnify": (MonnifySimulator, ("tools/bin/python", "monnify_client.py")),
}


def main() -> None:
    """All judges, one after the other."""
    parser = argparse.ArgumentParser(prog="judges.vendors")
    parser.add_argument("--papers", type=Path)
    papers: Path | None = parser.parse_args().papers
    if papers is not None:
        description = (papers / "paystack.yaml").read_text("utf-8")
        by_transfer = (papers / f"{BY_TRANSFER}.yaml").read_text("utf-8")
        passed = asyncio.run(judge_openapi(description, by_transfer))
        print(f"paystack.yaml: {passed['requests']} requests and {passed['answers']} answers fit")
        print(f"hooks of Paystack: {judge_samples(papers / 'hooks')} tell of what they should")
    asyncio.run(_run_clients())
    print("Every judge agrees.")


async def _run_clients() -> None:
    with tempfile.TemporaryDirectory(prefix="tillhouse-vendors-") as name:
        folder = Path(name)
        await _install(folder)
        for vendor in _CLIENTS:
            await _run_client(folder, vendor)
        await _run_twilio(folder)
        await judge_models(folder, _do)
        await judge_localstripe(folder)


async def _install(folder: Path) -> None:
    for file in HERE.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    await _do(folder, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    await _do(folder, sys.executable, "-m", "venv", "tools")
    await _do(folder, "tools/bin/pip", "install", "-q", "-r", "requirements.txt")


async def _run_client(folder: Path, vendor: str) -> None:
    """The client opens something, somebody pays, and the client goes on."""
    simulator, program = _CLIENTS[vendor]
    sim = await simulator().start()
    try:
        await _do(folder, *program, "open", sim.root, "th-judged-reference")
        await sim.pay("th-judged-reference", Decimal("1500.50"))
        await _do(folder, *program, "after", sim.root, "th-judged-reference")
        await sim.tell()
        if vendor == "monnify":
            hook = sim.told[0]
            signature = hook.headers["monnify-signature"].encode()
            (folder / "hook").write_bytes(signature + b"\n" + hook.body)
            await _do(folder, *program, "hook", sim.root, "hook")
    finally:
        await sim.stop()


async def _run_twilio(folder: Path) -> None:
    """The client calls, and checks the signatures of what it is told."""
    sim = await TwilioSimulator().start()
    try:
        program = ("tools/bin/python", "twilio_client.py")
        account = (sim.account.account_sid, sim.account.auth_token)
        await _do(folder, *program, "calls", sim.root, *account)
        (folder / "callbacks").mkdir()
        for place, one in enumerate(sim.callbacks):
            pairs = parse_qsl(one.body.decode(), keep_blank_values=True)
            fields = "\r".join(f"{name}\t{value}" for name, value in pairs)
            text = "\n".join((one.url, one.headers["x-twilio-signature"], fields))
            (folder / "callbacks" / f"{place}").write_bytes(text.encode())
        await _do(folder, *program, "callbacks", account[1], "callbacks")
    finally:
        await sim.stop()


async def _do(folder: Path, *command: str) -> None:
    """Run a command; its failure is ours."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    told, _ = await process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(command[:3])}:\n{told.decode()}")
    print(told.decode().strip() or f"{Path(command[0]).name}: fine")


if __name__ == "__main__":
    main()
