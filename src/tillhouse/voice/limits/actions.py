"""The settings of calls: show and change."""

from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.kit.errors import FieldError, check
from tillhouse.kit.partial import faults
from tillhouse.voice.limits import rules, store
from tillhouse.voice.limits.rules import VoiceSettings, VoiceSettingsPatch


async def show(call: Call) -> VoiceSettings:
    """How many calls may be placed in a day, and how many were."""
    row = await store.show_limits(call.db, call.book.id, call.now)
    most = call.services.settings.calls_per_day_max
    return VoiceSettings(
        calls_per_day=rules.bound(row["calls_per_day"], most),
        calls_per_day_max=most,
        day=row["day"],
        calls_today=row["calls_today"],
    )


async def change(call: Call, patch: VoiceSettingsPatch) -> VoiceSettings:
    """Change the fields that the patch names."""
    check(await change_faults(call, patch))
    wanted = patch.calls_per_day
    if wanted is not UNSET:
        await store.upsert_calls_per_day(call.db, call.book.id, wanted, call.now)
        about = {"callsPerDay": str(wanted), "environment": call.book.environment}
        await audit.note(call, ("voice_settings.updated", "Settings of calls: updated"), about)
    return await show(call)


async def change_faults(call: Call, patch: VoiceSettingsPatch) -> list[FieldError]:
    """The faults of a change."""
    most = call.services.settings.calls_per_day_max
    return faults(
        lambda: (
            () if patch.calls_per_day is UNSET else rules.bound_faults(patch.calls_per_day, most)
        )
    )
