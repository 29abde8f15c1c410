"""Members of a business: list, invite, give another role, remove; and join by an invitation."""

import re
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record
from msgspec import UNSET

from tillhouse.access import attempts, audit
from tillhouse.access.call import AnonymousCall, Call
from tillhouse.access.store import sessions
from tillhouse.access.store.sessions import end_sessions_of
from tillhouse.accounts import store as people
from tillhouse.accounts.members import rules, store
from tillhouse.accounts.members.store import delete_invitations_by
from tillhouse.accounts.members.types import (
    AcceptedInvitation,
    GivenInvitation,
    InvitationPreview,
    InvitationShown,
    MadeKey,
    MemberChanged,
    MemberFound,
    MemberPatch,
    MemberRemoval,
    MemberSessionsEnded,
    MemberShown,
    NewInvitation,
)
from tillhouse.accounts.rules import password_faults
from tillhouse.accounts.second_factor import actions as second_factor
from tillhouse.db.pool import Db
from tillhouse.developer.actions.keys import revoke
from tillhouse.http.route import Reply
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import (
    FieldError,
    Invalid,
    Limited,
    Missing,
    Unauthenticated,
    check,
    existing,
)
from tillhouse.kit.ids import BusinessId, KeyId, UserId, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.kit.secrets import digest, same
from tillhouse.kit.values import NewPassword
from tillhouse.providers.mail.jobs import is_set

INVITATION = "member_invitation"
_TOKEN = re.compile(r"thin_([0-9a-f]{32})([0-9a-f]{32})([0-9a-f]{64})")
_WRONG = "The password is not that of the account with this e-mail address."


class NewMember(msgspec.Struct, frozen=True, kw_only=True):
    """A person who joined a business by an invitation."""

    user_id: UserId
    business_id: BusinessId
    password_changed_at: datetime
    code: second_factor.GivenCode | None


async def list_all(call: Call, wanted: Paged) -> PageOf[MemberShown]:
    """One page of the members, then of those who are invited."""
    total = await store.count_people(call.db, call.business_id, call.now)
    found = await store.list_people(call.db, call.business_id, call.now, wanted.pick())
    return PageOf(found, meta(wanted.pick(), total))


async def show(call: Call, user_id: UserId) -> MemberFound:
    """One member, or one who is invited, with the keys that they made."""
    found = existing(await store.find_one(call.db, call.business_id, user_id, call.now))
    return MemberFound(**found, keys=await _made_keys(call, user_id, revokes=False))


async def invite(call: Call, new: NewInvitation) -> Reply[InvitationShown]:
    """Invite a person; the answer kept for a replay lacks the token."""
    await people.lock_business(call.db, call.business_id)
    user = call.user
    facts = await store.find_inviting(call.db, call.business_id, new.email, user.user_id, call.now)
    rules.check_right(facts["callers_role"], new.role)
    if facts["is_member"]:
        raise rules.AlreadyMember
    rules.check_invitation_limit(facts["invitations"])
    await _count_mail(call)
    row = store.NewInvitationRow(
        business_id=call.business_id,
        id=new_id(),
        email=new.email,
        role=new.role,
        invited_by=user.user_id,
        created_at=call.now,
        expires_at=call.now + rules.INVITATION_LASTS,
    )
    await store.upsert_invitation(call.db, row)
    job = NewJob(book_id=user.books.live, kind=INVITATION, subject_id=row.id)
    await queue_job(call.db, job, call.now, call.now)
    await _note(call, "invited", new.email, {"role": new.role})
    shown = InvitationShown(
        id=row.id,
        email=new.email,
        role=new.role,
        expires_at=iso(row.expires_at),
        token=token_of(call.services.vault.pepper, call.business_id, row.id),
    )
    return Reply(shown, stored=msgspec.structs.replace(shown, token=None))


async def change(call: Call, user_id: UserId, patch: MemberPatch) -> MemberChanged:
    """Give a member another role; when it is lower, their sessions end with this transaction."""
    wanted = () if patch.role is UNSET else (patch.role,)
    member = await _lock(call, user_id, *wanted)
    role = member["role"] if patch.role is UNSET else patch.role
    rules.check_owner_stays(member["role"], role, member["owners"])
    declared = call.services.declared
    lowers = rules.is_lowered(member["role"], role, declared.roles, declared.scopes)
    await store.update_role(call.db, call.business_id, user_id, role)
    ended, keys = 0, list[MadeKey]()
    if lowers:
        ended = await end_what_stands(call.db, call.business_id, user_id, call.now)
        keys = await _made_keys(call, user_id, revokes=patch.revoke_keys)
    if member["role"] != role:
        more = {"role": role, "before": member["role"], "endedSessions": ended}
        await _note(call, "role_changed", member["email"], {"userId": str(user_id), **more})
    return MemberChanged(id=user_id, role=role, ended_sessions=ended, keys=keys)


async def remove(call: Call, user_id: UserId, removal: MemberRemoval) -> Reply[MemberChanged]:
    """Remove a member, whose sessions end with this transaction, or take an invitation back."""
    try:
        member = await _lock(call, user_id)
    except Missing:
        return await _take_back(call, user_id)
    rules.check_owner_stays(member["role"], None, member["owners"])
    ended = await sessions.turn_sessions_home(call.db, call.business_id, user_id, call.now)
    ended += await sessions.end_sessions_of(call.db, call.business_id, user_id, call.now)
    keys = await _made_keys(call, user_id, revokes=removal.revoke_keys)
    await store.delete_member(call.db, call.business_id, user_id)
    more = {"role": member["role"], "endedSessions": ended}
    await _note(call, "removed", member["email"], {"userId": str(user_id), **more})
    return Reply(MemberChanged(id=user_id, role=None, ended_sessions=ended, keys=keys))


async def end_sessions(call: Call, user_id: UserId) -> MemberSessionsEnded:
    """End the sessions of a member, also those that could come back; they may log in again."""
    member = await _lock(call, user_id)
    await store.update_sessions_ended(call.db, call.business_id, user_id, call.now)
    ended = await sessions.end_sessions_of(call.db, call.business_id, user_id, call.now)
    more = {"userId": str(user_id), "endedSessions": ended}
    await _note(call, "sessions_ended", member["email"], more)
    return MemberSessionsEnded(ended)


async def join(call: AnonymousCall, given: AcceptedInvitation) -> NewMember:
    """Take an invitation, once: with the password of the account, or as somebody new."""
    business_id, invitation_id = _read_token(call.services.vault.pepper, given.token)
    async with call.services.pool.reading() as db:
        invitation = await store.find_invitation(db, business_id, invitation_id, call.now)
        if invitation is None:
            raise rules.InvitationOver
        email = invitation["email"]
        user = await sessions.find_user_by_email(db, email)
    known_id = user["id"] if user else None
    attempt = await attempts.let_in(call.services, call.ip, email, known_id)
    hashed, code = "", None
    if user is None:
        password = _new_password(given, email)
        hashed = await call.services.passwords.hash(password, attempt.asker)
    elif not await attempts.is_right(call.services, attempt, user["password_hash"], given.password):
        raise Unauthenticated(_WRONG)
    else:
        code = await second_factor.judge(call, user["id"], user["factor"], given.code)
    await attempts.clear(call.db, attempt)
    await second_factor.use_up(call, code, user["name"] if user else email)
    await people.lock_business(call.db, business_id)
    role = await store.delete_invitation(call.db, business_id, invitation_id, call.now)
    if role is None:
        raise rules.InvitationOver
    changed_at = user["password_changed_at"] if user else call.now
    name = user["name"] if user else str(given.name)
    user_id = UserId(known_id or new_id())
    if user is None:
        await people.insert_user(call.db, user_id, email, name, hashed, call.now)
    if not await store.insert_member(call.db, business_id, user_id, role, call.now):
        raise rules.AlreadyMember
    actor = audit.Actor(name, call.ip, user_id=user_id)
    event = ("member.added", f"{email} joined as {role}")
    metadata = {"userId": str(user_id), "role": role}
    await audit.append(call.db, business_id, actor, event, metadata, call.now)
    return NewMember(
        user_id=user_id, business_id=business_id, password_changed_at=changed_at, code=code
    )


async def preview(call: AnonymousCall, given: GivenInvitation) -> InvitationPreview:
    """Tell what an invitation is to, while it stands; it is not used up."""
    business_id, invitation_id = _read_token(call.services.vault.pepper, given.token)
    async with call.services.pool.reading() as db:
        found = await store.find_invitation(db, business_id, invitation_id, call.now)
        if found is None:
            raise rules.InvitationOver
        user = await sessions.find_user_by_email(db, found["email"])
    return InvitationPreview(
        business_name=found["business_name"],
        role=found["role"],
        email=found["email"],
        has_account=user is not None,
    )


def token_of(pepper: bytes, business_id: UUID, invitation_id: UUID) -> str:
    """The token of an invitation: its ids, signed. It is made anew, and never kept."""
    signature = digest(pepper, f"invitation {business_id} {invitation_id}").hex()[:64]
    return f"thin_{business_id.hex}{invitation_id.hex}{signature}"


def _read_token(pepper: bytes, token: str) -> tuple[BusinessId, UUID]:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise rules.InvitationOver
    business_id, invitation_id = BusinessId(UUID(hex=match[1])), UUID(hex=match[2])
    if not same(token_of(pepper, business_id, invitation_id), token):
        raise rules.InvitationOver
    return business_id, invitation_id


def _new_password(given: AcceptedInvitation, email: str) -> NewPassword:
    faults = list[FieldError]()
    if given.name is None:
        faults.append(FieldError("name", "is required: nobody is registered with this address"))
    try:
        password = NewPassword.from_wire(given.password)
    except ValueError as error:
        raise Invalid([*faults, FieldError("password", str(error))]) from None
    check([*faults, *password_faults("password", password, (email, given.name or ""))])
    return password


async def _count_mail(call: Call) -> None:
    """Refuse an invitation whose mail would be one too many of the business."""
    budget, subject = rules.MAILS_A_DAY, f"invitations of {call.business_id}"
    if is_set(call.services) and not await attempts.take(call.services, call.db, subject, budget):
        raise Limited(budget.every.total_seconds(), rules.TOO_MANY_MAILS)


async def _lock(call: Call, user_id: UserId, *roles: str) -> Record:
    """A member whom the caller may change, while no other change of members goes on."""
    await people.lock_business(call.db, call.business_id)
    member = existing(
        await store.lock_member(call.db, call.business_id, user_id, call.user.user_id)
    )
    rules.check_right(member["callers_role"], member["role"], *roles)
    return member


async def _made_keys(call: Call, user_id: UserId, *, revokes: bool) -> list[MadeKey]:
    """The active keys that a person made, revoked if wanted."""
    rows = await store.list_made_keys(call.db, call.user.books.all(), user_id, call.now)
    if revokes:
        for row in rows:
            await revoke(call, KeyId(row["id"]))
    return [MadeKey(**row, is_revoked=revokes) for row in rows]


async def _take_back(call: Call, invitation_id: UUID) -> Reply[MemberChanged]:
    """End an invitation that stands; the business is locked, so no one can join by it meanwhile."""
    caller_id = call.user.user_id
    row = await store.lock_invitation(call.db, call.business_id, invitation_id, caller_id, call.now)
    row = existing(row)
    rules.check_right(row["callers_role"], row["role"])
    await store.delete_invitation(call.db, call.business_id, invitation_id, call.now)
    more = {"invitationId": str(invitation_id), "role": row["role"]}
    await _note(call, "invitation_revoked", row["email"], more)
    ended = MemberChanged(id=invitation_id, role=None, ended_sessions=0, keys=[])
    return Reply(ended, message="Invitation taken back")


async def _note(call: Call, verb: str, email: str, more: dict[str, Any]) -> None:
    title = f"Member {email}: {verb.replace('_', ' ')}"
    await audit.note(call, (f"member.{verb}", title), more)


async def end_what_stands(db: Db, business_id: BusinessId, user_id: UserId, at: datetime) -> int:
    """End the invitations and sessions of a member; how many sessions there were."""
    await delete_invitations_by(db, business_id, user_id)
    return await end_sessions_of(db, business_id, user_id, at)
