"""The operations on members that the pages call."""

from tillhouse.accounts.room import ROOM as ACCOUNTS
from tillhouse.desk.operations import Operation

MEMBER = Operation(ACCOUNTS, "GET", "/v1/members/{user_id}")
INVITE = Operation(ACCOUNTS, "POST", "/v1/members")
CHANGE = Operation(ACCOUNTS, "PATCH", "/v1/members/{user_id}")
REMOVE = Operation(ACCOUNTS, "DELETE", "/v1/members/{user_id}")
FACTORS = Operation(ACCOUNTS, "GET", "/v1/business/second-factor")
SET_FACTORS = Operation(ACCOUNTS, "PUT", "/v1/business/second-factor")
END_SESSIONS = Operation(ACCOUNTS, "POST", "/v1/members/{user_id}/end-sessions")
