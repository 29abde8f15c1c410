"""Numbers that JSON or a till doesn't know: 422 that names the field, as any other wrong value."""

import time
from typing import Any

import pytest

from tests.api import Api
from tests.make import Business
from tillhouse.http.wire import decode
from tillhouse.kit.errors import Invalid, Malformed

ORDERS = "/v1/orders"
ODD = ("NaN", "Infinity", "-Infinity")
HUGE = ("1e999999999", "1e99999999999999999999", "-1E+99999999999999999999", "9" * 10_000,
        "-" + "9" * 10_000, "9" * 5_000 + "e" + "9" * 20)  # fmt: skip
TINY = ("1e-99999999999999999999", "0.1e-999999999999999999")
TRIES = 8
TIMES_MAX = 5


@pytest.fixture
async def seller(business: Business) -> Api:
    """A key that may record orders."""
    return await business.client("orders:write", "orders:read")


async def told(api: Api, raw: str) -> dict[str, str]:
    """The sentences of a 422 by field."""
    answer = await api.post(ORDERS, raw=raw.encode(), status=422)
    assert answer.error == "validation_error"
    return {detail["field"]: detail["message"] for detail in answer.json["details"]}


def order(number: str, more: str = "") -> str:
    """A sale at this price."""
    item = f'{{"product_name":"Tea","quantity":1,"custom_price":{number}}}'
    return f'{{"items":[{item}]{more}}}'


@pytest.mark.parametrize("number", ODD)
async def test_what_is_no_number_is_told_of_its_field(seller: Api, number: str) -> None:
    """Wherever it stands, and together with everything else."""
    wanted = 'must be a number or a decimal string such as "1500.50"'
    price = {"items[0].custom_price": f"{wanted}; {number} is none"}
    assert await told(seller, order(number)) == price
    both = await told(seller, order(number, f',"amount_paid":{number},"zz":{number}'))
    assert both.keys() == {"items[0].custom_price", "amount_paid", "zz"}
    assert both["zz"] == "is no field of this request"
    ruled = await told(seller, order(number, ',"scheduled_for":"2020-01-31T10:00:00Z"'))
    assert ruled.keys() == {"items[0].custom_price", "scheduled_for"}


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("covers", "must be a whole number or null; NaN is none"),
        ("send_to_kitchen", "must be true or false or null; NaN is none"),
        ("customer_name", "must be a string; NaN is none"),
        ("tags", "must be a list or null; NaN is none"),
    ],
)
async def test_a_field_of_another_type_says_what_it_takes(
    seller: Api, field: str, said: str
) -> None:
    """A number would be as wrong there."""
    assert await told(seller, order("5", f',"{field}":NaN')) == {field: said}


@pytest.mark.parametrize("number", HUGE)
async def test_an_absurd_size_is_told_of_its_field(seller: Api, number: str) -> None:
    """Also one that not even a decoder knows."""
    assert await told(seller, order(number)) == {
        "items[0].custom_price": "must be smaller than 10^15"
    }


@pytest.mark.parametrize("number", TINY)
async def test_an_absurd_fineness_is_told_of_its_field(seller: Api, number: str) -> None:
    """As any number with too many decimals."""
    assert await told(seller, order(number)) == {
        "items[0].custom_price": "must have at most 6 decimals"
    }


async def test_nothing_is_nothing_however_it_is_written(seller: Api) -> None:
    """A zero has no size."""
    answer = await seller.post(ORDERS, raw=order("0e99999999999999999999").encode(), status=201)
    assert answer.data["totalAmount"] == 0


@pytest.mark.parametrize(
    "raw",
    ['{"a":NaN', '{"a":NaN,}', '{"a":NaN}}', '{"a":nan}', '{"a":+NaN}', '{"a":inf}', "NaN NaN",
     '{"a":NaN,"b":1,"b":2}', '{"a":1e99999999999999999999,"a":1}', '{"a":-NaN}', '{"a":NaNs}',
     '{"a":' + "9" * 10_000, '{"a":NaN,"b":\'x\'}', '{"a":' + "[" * 40 + "NaN" + "]" * 40 + "}",
     '{"a":NaN,"b":' + "[" * 100_000],
)  # fmt: skip
async def test_a_body_that_is_no_json_is_told_as_such(seller: Api, raw: str) -> None:
    """An odd number doesn't make it readable."""
    answer = await seller.post(ORDERS, raw=raw.encode(), status=400)
    assert answer.error == "request_failed"


async def test_a_body_that_is_nothing_else_is_named_as_the_body(seller: Api) -> None:
    """There is no field to name."""
    for number in (*ODD, "1e99999999999999999999"):
        assert (await told(seller, number)).keys() == {"body"}


@pytest.mark.proof
@pytest.mark.parametrize(
    "raw",
    [
        b'{"x":[' + b",".join([b"9" * 4_500] * 220) + b"]}",
        b'{"x":' + b"9" * 1_000_000 + b"}",
        b'{"x":' + b"9" * 999_000 + b"e" + b"9" * 20 + b"}",
        b'{"x":1e' + b"9" * 1_000_000 + b"}",
        b'{"' + b"a" * 500_000 + b'":{"b":NaN},"c":"' + b"a" * 500_000 + b'"}',
    ],
    ids=["long", "longest", "long with exponent", "long exponent", "long name"],
)
async def test_a_long_number_is_cheap(seller: Api, raw: bytes) -> None:
    """As any list of its length."""
    plain = b'{"x":[' + b'"a",' * (len(raw) // 4) + b"1]}"
    assert await times(seller, raw, plain) <= TIMES_MAX


OBJECT = '{"a":1,"b":2,"c":"d","e":5.5},'
HUGE_ONE = "1e99999999999999999999"


@pytest.mark.proof
@pytest.mark.parametrize(
    ("shape", "odd", "good"),
    [
        ('{"items":[' + "?," * 200_000 + "?]}", "NaN", "1.5"),
        ('{"x":[' + "?," * 200_000 + "?]}", "NaN", "1.5"),
        ('{"x":[' + '{"a":?},' * 49_000 + "1]}", "NaN", "1.5"),
        ('{"x":[' + "?," * 40_000 + "1]}", HUGE_ONE, "1.55555555555555555555"),
        ('{"x":[' + OBJECT * 30_000 + "?]}", "NaN", "1.5"),
        ('{"items":[' + OBJECT * 30_000 + "?]}", "-Infinity", "1.5"),
        ('{"x":[' + OBJECT * 30_000 + "?]}", HUGE_ONE, "1.5"),
        ('{"items":[' + OBJECT * 30_000 + "?]}", "9" * 4_500, "1.5"),
    ],
    ids=["items", "elsewhere", "objects", "huge", "last", "last of items", "last and huge",
         "last and long"],
)  # fmt: skip
async def test_odd_numbers_are_cheap(seller: Api, shape: str, odd: str, good: str) -> None:
    """A hostile body costs no more than some times the same body with good numbers."""
    bodies = (shape.replace("?", number).encode() for number in (odd, good))
    assert await times(seller, *bodies) <= TIMES_MAX


async def times(api: Api, body: bytes, other: bytes) -> float:
    """How many times as dear a body is as another one, at best."""
    body_s = other_s = float("inf")
    for _ in range(TRIES):
        other_s = min(other_s, await cost_s(api, other))
        body_s = min(body_s, await cost_s(api, body))
        if body_s <= TIMES_MAX * other_s:
            break
    return body_s / other_s


async def cost_s(api: Api, raw: bytes) -> float:
    """Time on the processor, until the body is refused in a small answer."""
    started = time.thread_time()
    answer = await api.post(ORDERS, raw=raw, status=422)
    took_s = time.thread_time() - started
    assert len(answer.body) < 50_000
    return took_s


def test_whoever_decodes_gets_nothing_unfit() -> None:
    """Decoded values are plain ones, or there are none."""
    fields: list[Any] = []
    for raw in (b'{"a":NaN,"b":[1,Infinity]}', b'{"a":"\\u0000","b":[1,"\\ud800"]}'):
        try:
            decode(raw)
        except Invalid as wrong:
            fields.append([detail.field for detail in wrong.details or []])
    assert fields == [["a", "b[1]"]] * 2
    with pytest.raises(Malformed):
        decode(b'{"a":NaN')
