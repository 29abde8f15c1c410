"""The routes that WhatsApp calls: the handshake, and its updates."""

from tillhouse.access.process import Services
from tillhouse.http.fields import path_uuid
from tillhouse.http.raw import RawAnswer, RawRequest, RawRoute
from tillhouse.kit.ids import NumberId
from tillhouse.messaging import hooks

# As much as WhatsApp sends at once, by its documentation, and something to spare.
BODY_BYTES_MAX = 4 * 1024 * 1024

_TEXT = "text/plain; charset=utf-8"
_PATH = "/hooks/whatsapp/{number_id}"


async def greet(services: Services, asked: RawRequest) -> RawAnswer:
    """The handshake: WhatsApp asks whether this address is meant for it."""
    answer = await hooks.greet(services, _number(asked), asked.query)
    return RawAnswer(_TEXT, answer.encode())


async def check(services: Services, asked: RawRequest) -> None:
    """Refuse a caller that is not WhatsApp before its body is read."""
    signature = asked.header("x-hub-signature-256")
    await hooks.check(services, _number(asked), signature)


async def take(services: Services, asked: RawRequest) -> RawAnswer:
    """Messages of customers, and reports on ours: stored, then answered."""
    signature = asked.header("x-hub-signature-256")
    await hooks.take(services, _number(asked), asked.body, signature, asked.now)
    return RawAnswer(_TEXT, b"")


def _number(asked: RawRequest) -> NumberId:
    return NumberId(path_uuid(asked.path["number_id"]))


HOOKS: tuple[RawRoute, ...] = (
    RawRoute(method="GET", path=_PATH, handler=greet, is_hook=True),
    RawRoute(
        method="POST",
        path=_PATH,
        handler=take,
        check=check,
        is_hook=True,
        body_bytes_max=BODY_BYTES_MAX,
    ),
)
