"""Calls by agents: the face of the room."""

from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.providers.telephony.telephones import telephones
from tillhouse.room import Room
from tillhouse.voice.dispatching.dispatcher import Dispatcher, RealClock
from tillhouse.voice.events import EVENTS
from tillhouse.voice.hooks.pages import HOOK
from tillhouse.voice.recordings.pages import PAGE
from tillhouse.voice.recordings.sweeping import sweep
from tillhouse.voice.routes import ROUTES


async def _dispatcher(services: Services) -> Dispatcher:
    return Dispatcher(services, telephones(services.settings), RealClock())


ROOM = Room(
    name="voice",
    routes=ROUTES,
    pages=lambda: (PAGE, HOOK),
    chores=lambda services: (sweep(services),),
    # The pace of sound is 20 ms, which requests would disturb.
    apart=(_dispatcher,),
    groups=(Group("/v1/voice", "Voice", "Agents that call customers, and their calls.", "voice"),),
    refusals=(
        taken("voice_numbers_once", "This number is among the voice numbers already: update it."),
        taken(
            "voice_numbers_one_default",
            "Another number was made the default one at the same moment: read them again.",
        ),
        taken(
            "voice_agents_one_default",
            "Another agent was made the default one at the same moment: read them again.",
        ),
    ),
    kept_tables=(
        "voice_agents",
        "voice_attempts",
        "voice_call_tallies",
        "voice_calls",
        "voice_days",
        "voice_numbers",
        "voice_prompts",
        "voice_settings",
        "voice_steps",
        "voice_suppressions",
    ),
    swept_tables={"voice_recordings": "voice_recordings"},
    events=EVENTS,
    scopes=(
        Scope("voice:read", "Check the key, read numbers and agents", "Voice", "low"),
        Scope("voice:calls:read", "Read calls and the suppression list", "Voice", "medium"),
        Scope("voice:calls:create", "Place and cancel calls", "Voice", "high"),
        Scope(
            "voice:agents:write",
            "Change agents, numbers and the suppression list",
            "Voice",
            "medium",
        ),
    ),
)
