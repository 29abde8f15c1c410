"""The routes of this room."""

from tillhouse.http.route import Route

ROUTES: tuple[Route, ...] = ()
