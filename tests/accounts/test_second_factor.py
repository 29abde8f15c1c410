"""The second factor: codes that count once, few guesses, recovery codes, and how it goes off."""

import asyncio
from uuid import UUID

import asyncpg
import pytest

from tests.api import Api
from tests.factor import FACTOR, code, turn_on, wrong
from tests.make import PASSWORD, Business, Make
from tillhouse.access.attempt_rules import FAILURES_MAX, WRONG_CODES
from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.process import Services
from tillhouse.accounts.second_factor import rules
from tillhouse.accounts.second_factor.actions import turn_off_for
from tillhouse.db.removal import delete_business
from tillhouse.kit.clock import now
from tillhouse.kit.ids import UserId

LOGIN = "/api/auth/login"


def proof(business: Business, given: str | None = None) -> dict[str, str | None]:
    """The right password, perhaps with a code."""
    return {"email": business.email, "password": PASSWORD, "code": given}


async def noted(sql: asyncpg.Connection, business: Business) -> list[str]:
    """The entries of the audit log about the person, the oldest first."""
    query = (
        "SELECT event_type FROM audit_events WHERE business_id = $1 "
        "AND event_type LIKE 'user.%' ORDER BY sequence"
    )
    return [row["event_type"] for row in await sql.fetch(query, UUID(business.id))]


async def test_a_login_needs_the_code_once_the_factor_is_on(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """A secret that was begun changes nothing; its first code turns it on."""
    await business.step_up()
    begun = (await business.owner.post(FACTOR, status=201)).data
    assert begun["uri"].startswith("otpauth://totp/Tillhouse:")
    assert f"secret={begun['secret']}" in begun["uri"]
    await make.elsewhere().post(LOGIN, proof(business), status=200)
    shown = (await business.owner.get(FACTOR, status=200)).data
    assert (shown["isOn"], shown["isBegun"]) == (False, True)
    body = {"code": wrong(begun["secret"])}
    await business.owner.post(f"{FACTOR}/confirm", body, status=403)
    body = {"code": code(begun["secret"])}
    told = (await business.owner.post(f"{FACTOR}/confirm", body, status=200)).data
    assert len(set(told["recoveryCodes"])) == rules.RECOVERY_CODES
    await business.owner.post(f"{FACTOR}/confirm", body, status=409)
    await business.owner.post(FACTOR, status=409)
    api = make.elsewhere()
    asked = await api.post(LOGIN, proof(business), status=401)
    assert asked.error == "second_factor_required"
    spaced = f" {code(begun['secret'], 1)[:3]} {code(begun['secret'], 1)[3:]}"
    await api.post(LOGIN, proof(business, spaced), status=200)
    shown = (await business.owner.get(FACTOR, status=200)).data
    assert (shown["isOn"], shown["recoveryCodesLeft"]) == (True, rules.RECOVERY_CODES)
    assert await noted(sql, business) == ["user.second_factor_on"]


async def test_a_code_tells_nothing_about_the_password(business: Business, make: Make) -> None:
    """With a wrong password the answer is the same, whatever code comes along."""
    factor = await turn_on(business)
    other = await make.business()
    told = set[tuple[str, str]]()
    for one, given in ((business, None), (business, factor.next), (business, "000000"),
                       (other, None), (other, "000000")):  # fmt: skip
        body = proof(one, given) | {"password": "another phrase"}
        answer = await make.elsewhere().post(LOGIN, body, status=401)
        told.add((answer.error, answer.json["message"]))
    assert len(told) == 1
    assert ("unauthorized", "The e-mail address or the password is wrong.") in told


async def test_a_code_counts_once(business: Business, make: Make) -> None:
    """The one that turned the factor on, and one that logged in; also two at once."""
    factor = await turn_on(business)
    api = make.elsewhere()
    again = await api.post(LOGIN, proof(business, factor.used), status=401)
    assert again.error == "second_factor_required"
    body = proof(business, factor.next)
    answers = await asyncio.gather(*(make.elsewhere().post(LOGIN, body) for _ in range(4)))
    assert sorted(one.status for one in answers) == [200, 401, 401, 401]
    await api.post(LOGIN, body, status=401)


async def test_a_recovery_code_counts_once(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """In any case, with or without its dashes; also two at once. The audit log tells of it."""
    factor = await turn_on(business)
    first, second = factor.recovery[:2]
    body = proof(business, first.lower().replace("-", " "))
    await make.elsewhere().post(LOGIN, body, status=200)
    await make.elsewhere().post(LOGIN, body, status=401)
    body = proof(business, second)
    answers = await asyncio.gather(*(make.elsewhere().post(LOGIN, body) for _ in range(4)))
    assert sorted(one.status for one in answers) == [200, 401, 401, 401]
    shown = (await business.owner.get(FACTOR, status=200)).data
    assert shown["recoveryCodesLeft"] == rules.RECOVERY_CODES - 2
    assert await noted(sql, business) == [
        "user.second_factor_on", "user.recovery_code_used", "user.recovery_code_used",
    ]  # fmt: skip


async def test_recovery_codes_are_made_anew(business: Business, make: Make) -> None:
    """Those before are over; both this and turning off need the password once more."""
    factor = await turn_on(business)
    api = make.elsewhere()
    logged_in = (await api.post(LOGIN, proof(business, factor.next), status=200)).data
    fresh = api.as_bearer(logged_in["accessToken"])
    for method, path in (("POST", f"{FACTOR}/recovery-codes"), ("DELETE", FACTOR),
                         ("POST", FACTOR)):  # fmt: skip
        refused = await fresh.request(method, path, status=403)
        assert refused.error == "password_verification_required"
    made = await business.owner.post(f"{FACTOR}/recovery-codes", status=200)
    await api.post(LOGIN, proof(business, factor.recovery[0]), status=401)
    await api.post(LOGIN, proof(business, made.data["recoveryCodes"][0]), status=200)


async def test_a_factor_is_turned_off(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """The password alone logs in again, and no code is looked at any more."""
    await turn_on(business)
    assert (await business.owner.delete(FACTOR, status=200)).data == {"isOn": False}
    await business.owner.delete(FACTOR, status=200)
    await business.owner.post(f"{FACTOR}/recovery-codes", status=409)
    await make.elsewhere().post(LOGIN, proof(business), status=200)
    await make.elsewhere().post(LOGIN, proof(business, "000000"), status=200)
    assert await noted(sql, business) == ["user.second_factor_on", "user.second_factor_off"]


async def test_the_operator_turns_a_lost_factor_off(
    business: Business, make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """As the command does, which the audit log tells."""
    await turn_on(business)
    whose = UserId(UUID(business.user_id))
    for was_on in (True, False):
        async with services.pool.transaction() as db:
            assert was_on == await turn_off_for(db, whose, business.email, COMMAND_LINE, now())
    await make.elsewhere().post(LOGIN, proof(business), status=200)
    assert await noted(sql, business) == ["user.second_factor_on", "user.second_factor_off"]


async def test_a_factor_goes_with_the_last_business_of_its_person(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """It stays as long as the person belongs to another one."""
    person = await make.member(business, "cashier")
    for one in (business, person):
        await turn_on(one)
    ids = [UUID(business.user_id), UUID(person.user_id)]
    left = "SELECT user_id FROM second_factors WHERE user_id = ANY ($1)"
    await delete_business(sql, UUID(business.id))
    assert [row["user_id"] for row in await sql.fetch(left, ids)] == [UUID(person.user_id)]
    own = "SELECT business_id FROM members WHERE user_id = $1"
    await delete_business(sql, await sql.fetchval(own, UUID(person.user_id)))
    assert not await sql.fetch(left, ids)


async def guess(api: Api, business: Business, text: str, count: int) -> list[int]:
    """Guess a code so often, with the right password."""
    return [(await api.post(LOGIN, proof(business, text))).status for _ in range(count)]


async def test_guesses_from_one_network_are_few(business: Business, make: Make) -> None:
    """Logging in without a code clears no count, and the right code is refused, too."""
    factor = await turn_on(business)
    api, text = make.elsewhere(), wrong(factor.secret)
    statuses = await guess(api, business, text, FAILURES_MAX - 1)
    await api.post(LOGIN, proof(business), status=401)
    statuses += await guess(api, business, text, 2)
    assert statuses == [401] * FAILURES_MAX + [429]
    refused = await api.post(LOGIN, proof(business, factor.next), status=429)
    assert int(refused.headers["retry-after"]) > 1000
    await make.elsewhere().post(LOGIN, proof(business, factor.next), status=200)


async def test_guesses_from_everywhere_are_few(business: Business, make: Make) -> None:
    """Each from another network; the owner gets in where they logged in before."""
    factor = await turn_on(business)
    home = make.elsewhere()
    await home.post(LOGIN, proof(business, factor.recovery[0]), status=200)
    text = wrong(factor.secret)
    tried = [(await guess(make.elsewhere(), business, text, 1))[0]
             for _ in range(WRONG_CODES.burst + 2)]  # fmt: skip
    assert tried == [401] * WRONG_CODES.burst + [429, 429]
    await make.elsewhere().post(LOGIN, proof(business, factor.next), status=429)
    await home.post(LOGIN, proof(business, factor.next), status=200)


async def test_of_many_guesses_at_once_few_are_answered(business: Business, make: Make) -> None:
    """A right code that comes with too many wrong ones opens nothing."""
    factor = await turn_on(business)
    api, text = make.elsewhere(), wrong(factor.secret)
    answers = await asyncio.gather(
        *(api.post(LOGIN, proof(business, text)) for _ in range(FAILURES_MAX + 5))
    )
    assert sorted(one.status for one in answers) == [401] * FAILURES_MAX + [429] * 5


async def test_an_invitation_needs_the_code_of_the_account(business: Business, make: Make) -> None:
    """It logs in, so it asks for the same."""
    person = await make.business()
    factor = await turn_on(person)
    await business.step_up()
    new = {"email": person.email, "role": "cashier"}
    token = (await business.owner.post("/v1/members", new, status=201)).data["token"]
    body = {"token": token, "password": PASSWORD}
    api, path = make.elsewhere(), "/api/auth/accept-invitation"
    assert (await api.post(path, body, status=401)).error == "second_factor_required"
    await api.post(path, body | {"code": wrong(factor.secret)}, status=401)
    await api.post(path, body | {"code": factor.next}, status=201)


async def test_the_secret_is_sealed_for_its_person(
    business: Business, make: Make, sql: asyncpg.Connection
) -> None:
    """The row tells neither it nor a recovery code, and is no good in another's place."""
    factor = await turn_on(business)
    row = await sql.fetchrow(
        "SELECT * FROM second_factors WHERE user_id = $1::text::uuid", business.user_id
    )
    assert row is not None
    told = repr(dict(row))
    for secret in (factor.secret, *factor.recovery):
        assert secret not in told
        assert secret.replace("-", "") not in told
    thief = await make.business()
    await turn_on(thief)
    moving = "UPDATE second_factors SET sealed_secret = $2 WHERE user_id = $1::text::uuid"
    await sql.execute(moving, thief.user_id, row["sealed_secret"])
    answer = await make.elsewhere().post(LOGIN, proof(thief, factor.next))
    assert answer.status == 500


async def test_no_secret_is_in_the_audit_log(business: Business, sql: asyncpg.Connection) -> None:
    """Of everything that is told of the factor."""
    factor = await turn_on(business)
    made = await business.owner.post(f"{FACTOR}/recovery-codes", status=200)
    rows = await sql.fetch("SELECT * FROM audit_events WHERE business_id = $1", UUID(business.id))
    told = " ".join(repr(dict(row)) for row in rows)
    for secret in (factor.secret, *factor.recovery, *made.data["recoveryCodes"]):
        assert secret not in told


async def test_a_code_that_was_begun_anew_is_over(business: Business) -> None:
    """The second secret is the one that counts."""
    await business.step_up()
    old = (await business.owner.post(FACTOR, status=201)).data["secret"]
    new = (await business.owner.post(FACTOR, status=201)).data["secret"]
    await business.owner.post(f"{FACTOR}/confirm", {"code": code(old)}, status=403)
    await business.owner.post(f"{FACTOR}/confirm", {"code": code(new)}, status=200)


async def test_guesses_at_the_first_code_are_few(business: Business) -> None:
    """A stolen session must not find it out."""
    await business.step_up()
    secret = (await business.owner.post(FACTOR, status=201)).data["secret"]
    path, body = f"{FACTOR}/confirm", {"code": wrong(secret)}
    statuses = [(await business.owner.post(path, body)).status for _ in range(FAILURES_MAX + 1)]
    assert statuses == [403] * FAILURES_MAX + [429]
    await business.owner.post(path, {"code": code(secret)}, status=429)


# The appendix B of RFC 6238, of which six digits are shown.
VECTORS = ((1111111109, "081804"), (1234567890, "005924"), (2000000000, "279037"))


@pytest.mark.parametrize(("seconds", "shown"), VECTORS)
def test_codes_are_those_of_the_standard(seconds: int, shown: str) -> None:
    """At the moments that the standard names, and a step off; not two steps off."""
    secret = b"12345678901234567890"
    at = now().fromtimestamp(seconds, now().tzinfo)
    assert rules.code_at(secret, at) == shown
    for off, step in ((0, seconds // 30), (30, seconds // 30), (-30, seconds // 30), (60, None)):
        moment = at.fromtimestamp(seconds + off, at.tzinfo)
        assert rules.step_of(secret, shown, moment) == step
