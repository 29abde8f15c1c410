"""The actor of a call: a person, a program by its key, or the system itself."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller, UserCaller
from tillhouse.orders.types import Person

_NOBODY = UUID(int=0)


def actor_of(call: Call) -> Person:
    """The caller by id and name."""
    match call.caller:
        case KeyCaller(key_id=key_id, name=name):
            return Person(key_id, name)
        case UserCaller(user_id=user_id, name=name):
            return Person(user_id, name)
        case system:
            return Person(_NOBODY, system.name)
