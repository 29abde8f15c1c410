"""The message of `tillhouse serve` when it is ready."""

import shlex

from rich.console import Console
from rich.panel import Panel

from tillhouse.cli.demo import Demo, card
from tillhouse.kit.json import encode


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
