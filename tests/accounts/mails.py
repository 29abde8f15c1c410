"""An installation that mails people about their passwords."""

import re

from tests.make import Make
from tests.providers.mail.server import MailServer, Taken
from tests.waiting import ended
from tillhouse.accounts import notices
from tillhouse.accounts.forgotten import mailing
from tillhouse.app import App
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now

FORGOT = "/api/auth/forgot-password"
RESET = "/api/auth/reset-password"
LINK = re.compile(r"/desk/reset/(thpw_[0-9a-f]{64})\b")


class Mails:
    """The application with its mail server."""

    def __init__(self, app: App, server: MailServer) -> None:
        self.app, self.server = app, server
        self.make = Make(app, app.services)

    async def work(self) -> None:
        """Send what is due."""
        services = self.app.services
        kinds = (mailing.kind(services), notices.kind(services))
        await ended(JobRunner(services.pool, kinds, services.job_results).run_due(now()))

    def to(self, email: str) -> list[Taken]:
        """The mails to an address."""
        return [one for one in self.server.mails if one.recipient == email]

    async def link(self, email: str) -> str:
        """The token of a link that is asked for, from somewhere, and mailed."""
        await self.make.elsewhere().post(FORGOT, {"email": email}, status=200)
        await self.work()
        (token,) = LINK.findall(self.to(email)[-1].text)
        return token
