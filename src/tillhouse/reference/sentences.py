"""The sentence of every field: beside it in the source, else by its name in the glossary."""

import ast
import inspect
import re
import textwrap
from functools import cache
from itertools import pairwise

from tillhouse.reference.glossary import FIELDS
from tillhouse.reference.parameter_glossary import PARAMETERS

Struct = type

# Structs whose name isn't that of the thing they describe.
NOUNS: dict[str, str] = {
    "AccessToken": "session",
    "AppChoice": "secret",
    "Assignee": "person",
    "AuditEvent": "entry",
    "CallData": "call",
    "ChangeData": "change",
    "Correspondent": "customer",
    "Debtor": "customer",
    "Deleted": "deleted record",
    "DeliveryWithAttempts": "delivery",
    "Deposit": "account",
    "Endpoint": "webhook endpoint",
    "EndpointPatch": "webhook endpoint",
    "EventShown": "event",
    "GivenModifierOption": "modifier option",
    "Health": "API key",
    "ItemShown": "line",
    "Key": "API key",
    "KeyPatch": "API key",
    "KeyWithSecret": "API key",
    "Me": "person",
    "LinkCustomer": "customer",
    "Membership": "business",
    "Modifiers": "modifier group",
    "MoveActor": "person or API key",
    "NewAccount": "person",
    "NewEndpoint": "webhook endpoint",
    "NewItem": "line",
    "NewKey": "API key",
    "NewSession": "table session",
    "NewTerm": "academic term",
    "OpenSession": "table session",
    "PaidLink": "payment link",
    "Payer": "customer",
    "PaymentData": "payment",
    "Person": "person or API key",
    "ReceiptLink": "receipt",
    "Secret": "API key",
    "SentEvent": "event",
    "ServiceRequestData": "request",
    "Session": "table session",
    "SessionPatch": "table session",
    "Settings": "signing secret",
    "SigningSecret": "signing secret",
    "Staff": "person",
    "StageTemplate": "template",
    "StockLevel": "level",
    "StockMove": "move",
    "Term": "academic term",
    "TermPatch": "academic term",
    "TermShown": "academic term",
    "TicketShown": "ticket",
    "Tokens": "session",
    "UsageRecord": "API keys that called",
}


class Sentences:
    """Looks sentences up; the source is read, so this serves the making of the document only."""

    def __init__(self) -> None:
        self.missing: set[str] = set()

    def of(self, cls: Struct, field: str) -> str:
        """The meaning of a field of a struct."""
        return self._found(cls, field, FIELDS)

    def of_parameter(self, cls: Struct, field: str) -> str:
        """The meaning of a parameter of a query."""
        return self._found(cls, field, PARAMETERS)

    def _found(self, cls: Struct, field: str, glossary: dict[str, str]) -> str:
        for base in cls.__mro__:
            if base.__module__.startswith("tillhouse.") and field in _written(base):
                return _written(base)[field]
        if field not in glossary:
            self.missing.add(f"{cls.__name__}.{field}")
        return glossary.get(field, "").replace("{noun}", _noun(cls))


def _noun(cls: Struct) -> str:
    """The thing that a struct describes: its name in words, without the words for its use."""
    name = _USE.sub("", cls.__name__)
    return NOUNS.get(cls.__name__) or re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


# Words for the use of a struct, not for the thing that it describes.
_USE = re.compile("^(New|Given)|(Patch|Shown|Data)$")


@cache
def _written(cls: Struct) -> dict[str, str]:
    """The strings that stand below the fields of a class."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    [body] = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    found: dict[str, str] = {}
    for field, text in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            found[field.target.id] = " ".join(text.value.value.split())
    return found
