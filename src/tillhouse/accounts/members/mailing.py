"""The mail of an invitation, written when it is sent."""

from functools import partial

from tillhouse.access.process import Services
from tillhouse.accounts.members import store
from tillhouse.accounts.members.actions import INVITATION, token_of
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, OutsideKind
from tillhouse.kit.clock import now
from tillhouse.providers.mail.jobs import Letter, mail_kind
from tillhouse.providers.mail.text import given_name


def kind(services: Services) -> OutsideKind:
    """The job of mailing one invitation."""
    return mail_kind(services, INVITATION, partial(_write, services))


async def _write(services: Services, db: Db, job: Job) -> Letter | None:
    business_id = await store.find_business_of(db, job.book_id)
    invitation = await store.find_invitation(db, business_id, job.subject_id, now())
    if invitation is None:
        return None
    token = token_of(services.vault.pepper, business_id, job.subject_id)
    name = given_name(invitation["business_name"])
    lines = (
        f"You are invited to join {name} as {invitation['role']}.",
        "",
        "Take the invitation with the password of your account, or with a name and a new password:",
        f"  {services.settings.public_url}/desk/join/{token}",
        "",
        "It holds for seven days, and once. Without an answer of yours nothing happens.",
        "",
    )
    return Letter(
        recipient=invitation["email"],
        subject=f"Invitation to {name}",
        text="\n".join(lines),
        at=invitation["created_at"],
    )
