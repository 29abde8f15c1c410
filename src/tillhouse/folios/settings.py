"""The settings of a hotel: show and change."""

from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.folios.store import audits as store
from tillhouse.folios.types import HotelSettings, HotelSettingsPatch

DEFAULTS = HotelSettings(
    check_in_time="14:00", check_out_time="11:00", audit_time="03:00", no_show="release"
)


async def show(call: Call) -> HotelSettings:
    """The settings of the book's hotel."""
    return await store.show_settings(call.db, call.book.id) or DEFAULTS


async def change(call: Call, patch: HotelSettingsPatch) -> HotelSettings:
    """Change the fields that the patch names."""
    names = store.SettingsChange.__struct_fields__
    asked = {name: getattr(patch, name) for name in names}
    changes = store.SettingsChange(
        **{name: None if one is UNSET else str(one) for name, one in asked.items()}
    )
    changed = await store.upsert_settings(call.db, call.book.id, changes, call.now)
    await audit.note(call, ("hotel_settings.changed", "Hotel settings changed"), {})
    return changed
