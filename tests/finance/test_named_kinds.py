"""The names of the books are one list: what the code posts, the filter takes and the paper tells.

The type checker holds that nothing else is posted than `EntryKind` and `AccountKind` name.
"""

import ast
import re
from typing import get_args

from tests.tidy.tree import ROOT
from tillhouse.app import PRODUCT
from tillhouse.ledger.rules import AccountKind, EntryKind

_SOURCE = ROOT / "src" / "tillhouse"
_DECLARED = _SOURCE / "ledger" / "rules.py"
# The calls that take the names of kinds and accounts.
_MAKERS = ("Transfer", "Account", "_account", "_signed")
# The statement that reverses writes its kind itself.
_BY_STATEMENT = {"reversal"}
# Balances that a business brings along: an account that nothing books on yet.
_UNUSED = {"opening"}


def _names_postings(node: ast.AST) -> bool:
    """Whether the texts within are names of what is posted."""
    if isinstance(node, ast.AnnAssign):
        return bool(re.search(r"\b(EntryKind|AccountKind)\b", ast.unparse(node.annotation)))
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _MAKERS


def _posting() -> set[str]:
    """The texts of transfers and accounts in the code."""
    found: set[str] = set()
    for path in _SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if path != _DECLARED and "ledger.rules import" in text:
            for part in filter(_names_postings, ast.walk(ast.parse(text))):
                texts = (node for node in ast.walk(part) if isinstance(node, ast.Constant))
                found |= {one.value for one in texts if isinstance(one.value, str)}
    return found


def _told(heading: str) -> set[str]:
    """The names that the first column of the table in a part of the paper spells."""
    paper = (ROOT / "docs" / "finance.md").read_text("utf-8")
    part = paper.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}


def test_every_kind_is_posted() -> None:
    """No kind of the list is one that the code writes no more."""
    assert set(get_args(EntryKind)) - _posting() == _BY_STATEMENT


def test_every_account_is_booked_on() -> None:
    """Nor is any account."""
    assert set(get_args(AccountKind)) - _posting() == _UNUSED


def test_the_paper_tells_all_names() -> None:
    """Every kind, account and source, and none besides."""
    kinds = _told("## What an order writes") | _told("### What else is written")
    assert kinds == set(get_args(EntryKind))
    assert _told("## Accounts and transfers") == set(get_args(AccountKind))
    assert _told("### Sources") == {source.name for source in PRODUCT.sources}
