"""The pages of the reference, of the checkout and of the desk, judged in Chromium."""

import pytest

from tests.tools import node_module, program, run_judge

pytestmark = pytest.mark.proof

# One of each kind, as axe takes seconds for each: `make pages` judges all.
PAGES = (
    "/docs",
    "/docs/guides/quickstart",
    "/docs/guides/webhooks",
    "/docs/api/payment-links",
    "/docs/api/tables",
)


@pytest.mark.parametrize(
    ("module", "args"),
    [
        ("tests.browser", ["--only", ",".join(PAGES)]),
        ("tests.browser.checkout", []),
        ("tests.browser.desk", []),
    ],
)
def test_pages_are_without_fault(module: str, args: list[str]) -> None:
    """By axe, wide and narrow, light and dark, by keyboard, and as somebody uses them."""
    program("chromium")
    for name in ("axe-core", "playwright-core"):
        node_module(name)
    run_judge(module, *args)
