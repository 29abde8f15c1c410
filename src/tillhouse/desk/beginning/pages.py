"""The page of the first steps: each is ticked by what is really there."""

from typing import Any

from tillhouse.desk.beginning.steps import STEPS, Step
from tillhouse.desk.frame.places import frame_of
from tillhouse.desk.operations import Acting, Arguments, OperationAnswer, call
from tillhouse.desk.page import Goal, PageRequest, PageRoute, Shown
from tillhouse.desk.session.addresses import BEGIN


async def show(page: PageRequest) -> Shown:
    """The steps of the kind of business, those alone that the role may do."""
    frame = await frame_of(page)
    steps = [
        step
        for step in STEPS[frame.business.type]
        if page.may(step.does) and page.may(step.found_by)
    ]
    found = await page.together(*(_found(page, step) for step in steps))
    done = [answer is not None and step.is_done(answer)
            for step, answer in zip(steps, found, strict=True)]  # fmt: skip
    facts: dict[str, Any] = {
        "steps": list(zip(steps, done, strict=True)),
        "next": done.index(False) if False in done else None,
        # The business itself is the first of them.
        "done_count": sum(done) + 1,
        "all_count": len(steps) + 1,
    }
    return Shown("beginning/begin.html", facts)


async def _found(page: PageRequest, step: Step) -> OperationAnswer | None:
    if not step.is_live:
        return await page.read(step.found_by, limit=1, **step.query)
    live = Acting(page.person, "live")
    return await call(page.services, page.request, live, step.found_by, Arguments())


ROUTES = (PageRoute("GET", BEGIN, show, goal=Goal("begin.title", icon="check")),)
