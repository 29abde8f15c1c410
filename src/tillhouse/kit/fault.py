"""A fault in stored rows, as the proofs of the rooms name it."""

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """An invariant that doesn't hold: the kind of row, its id, the fault."""

    subject: str
    id: str
    what: str
