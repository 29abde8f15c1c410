"""Operations of the numbers that a business writes and calls from."""

from tillhouse.desk.operations import Operation
from tillhouse.messaging.room import ROOM as MESSAGING
from tillhouse.voice.room import ROOM as VOICE

NUMBERS = "/v1/messaging/numbers"
LIST_NUMBERS = Operation(MESSAGING, "GET", NUMBERS)
CONNECT_NUMBER = Operation(MESSAGING, "POST", NUMBERS)
DISCONNECT_NUMBER = Operation(MESSAGING, "DELETE", NUMBERS + "/{number_id}")
SIMULATE = Operation(MESSAGING, "POST", "/v1/messaging/sandbox/inbound")

TELEPHONES = "/v1/voice/numbers"
_TELEPHONE = TELEPHONES + "/{voice_number_id}"
LIST_TELEPHONES = Operation(VOICE, "GET", TELEPHONES)
ADD_TELEPHONE = Operation(VOICE, "POST", TELEPHONES)
TELEPHONE = Operation(VOICE, "GET", _TELEPHONE)
CHANGE_TELEPHONE = Operation(VOICE, "PATCH", _TELEPHONE)
DELETE_TELEPHONE = Operation(VOICE, "DELETE", _TELEPHONE)
LIST_AGENTS = Operation(VOICE, "GET", "/v1/voice/agents")
PLACE_CALL = Operation(VOICE, "POST", "/v1/voice/calls")
CALL = Operation(VOICE, "GET", "/v1/voice/calls/{call_id}")
