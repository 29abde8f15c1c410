"""The pages for developers, joined."""

from tillhouse.desk.developers.keys.apps import ROUTES as APPS
from tillhouse.desk.developers.keys.pages import ROUTES as KEYS

ROUTES = (*KEYS, *APPS)
