"""The operations that pages of logs call, beside those of webhooks."""

from tillhouse.desk.operations import Operation
from tillhouse.developer.room import ROOM as DEVELOPER

USAGE = Operation(DEVELOPER, "GET", "/api/developer/usage")
