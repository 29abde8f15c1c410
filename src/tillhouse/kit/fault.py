"""A fault in what is stored, as the proofs of the rooms name it."""

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """Something that must hold and doesn't: of what, of which one, how."""

    subject: str
    id: str
    what: str
