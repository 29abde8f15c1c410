"""The operations that pages of keys call."""

from tillhouse.desk.operations import Operation
from tillhouse.developer.room import ROOM as DEVELOPER

_KEYS = "/api/developer/api-keys"
_KEY = _KEYS + "/{key_id}"

SCOPES = Operation(DEVELOPER, "GET", "/api/developer/scopes")
LIST_APPS = Operation(DEVELOPER, "GET", "/api/developer/apps")
MAKE_APP = Operation(DEVELOPER, "POST", "/api/developer/apps")
MAKE = Operation(DEVELOPER, "POST", _KEYS)
KEY = Operation(DEVELOPER, "GET", _KEY)
CHANGE = Operation(DEVELOPER, "PATCH", _KEY)
DELETE = Operation(DEVELOPER, "DELETE", _KEY)
ROTATE = Operation(DEVELOPER, "POST", _KEY + "/rotate")
VIEW_SECRET = Operation(DEVELOPER, "POST", _KEY + "/view-secret")
REVOKE = Operation(DEVELOPER, "POST", _KEY + "/revoke")
