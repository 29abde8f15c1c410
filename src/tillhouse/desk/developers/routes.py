"""The pages for developers, joined."""

from tillhouse.desk.developers.begin.pages import ROUTES as BEGIN
from tillhouse.desk.developers.keys.apps import ROUTES as APPS
from tillhouse.desk.developers.keys.pages import ROUTES as KEYS
from tillhouse.desk.developers.logs.pages import ROUTES as LOGS
from tillhouse.desk.developers.webhooks.deliveries import ROUTES as DELIVERIES
from tillhouse.desk.developers.webhooks.endpoints import ROUTES as ENDPOINTS
from tillhouse.desk.developers.webhooks.secret import ROUTES as SIGNING

ROUTES = (*KEYS, *APPS, *ENDPOINTS, *DELIVERIES, *SIGNING, *LOGS, *BEGIN)
