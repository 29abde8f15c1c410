"""The sections of the settings, each a page of its own, and the page that leads to them."""

from collections.abc import Collection

import msgspec

from tillhouse.desk.frame.places import LIST_STORES, Frame, frame_of
from tillhouse.desk.operations import Operation
from tillhouse.desk.page import Goal, PageRequest, Shown
from tillhouse.desk.settings import operations as ops

SETTINGS = "/desk/settings"
_EVERY_KIND = ("retail", "restaurant", "hotel", "school", "services")


class Section(msgspec.Struct, frozen=True):
    """A section of the settings."""

    # Its sentences in the catalogue, and the end of its address.
    name: str
    # The operation without which there is no page.
    operation: Operation
    # The kinds of business that use it.
    kinds: Collection[str] = _EVERY_KIND

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{SETTINGS}/{self.name}"

    @property
    def goal(self) -> Goal:
        """The same for the palette."""
        return Goal(f"settings.section.{self.name}", (self.operation,))


BUSINESS = Section("business", ops.BUSINESS)
SALES = Section("sales", ops.BUSINESS)
STORES = Section("stores", LIST_STORES)
TABLES = Section("tables", ops.TABLES, ("restaurant", "hotel"))
KITCHEN = Section("kitchen", ops.MESSAGES, ("restaurant", "hotel"))
TERMS = Section("terms", ops.TERMS, ("school",))
TAGS = Section("tags", ops.TAGS)
_ALL = (BUSINESS, SALES, STORES, TABLES, KITCHEN, TERMS, TAGS)


def sections_of(page: PageRequest, frame: Frame, here: Section | None) -> list[Section]:
    """The sections beside a page: those that the role opens, of this kind of business."""
    kind = frame.business.type
    return [one for one in _ALL if page.may(one.operation) and (kind in one.kinds or one == here)]


async def show(page: PageRequest) -> Shown:
    """Every section that the role opens; those of other kinds of business apart."""
    page.check(LIST_STORES)
    frame = await frame_of(page)
    used = sections_of(page, frame, None)
    others = [one for one in _ALL if page.may(one.operation) and one not in used]
    facts = {"sections": used, "here": None, "used": used, "others": others}
    return Shown("settings/index.html", facts)
