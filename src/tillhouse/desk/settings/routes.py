"""All pages of settings."""

from tillhouse.desk.page import PageRoute
from tillhouse.desk.settings import business, kitchen, sections
from tillhouse.desk.settings.kinds import STORES, TABLES, TAGS, TERMS
from tillhouse.desk.settings.things import pages_of

ROUTES = (
    PageRoute("GET", sections.SETTINGS, sections.show),
    PageRoute(
        "GET", sections.BUSINESS.address, business.show_business, goal=sections.BUSINESS.goal
    ),
    PageRoute(
        "POST", sections.BUSINESS.address, business.change_business, refused=business.show_business
    ),
    PageRoute("GET", sections.SALES.address, business.show_sales, goal=sections.SALES.goal),
    PageRoute("POST", sections.SALES.address, business.change_sales, refused=business.show_sales),
    PageRoute("GET", sections.KITCHEN.address, kitchen.show, goal=sections.KITCHEN.goal),
    PageRoute("POST", sections.KITCHEN.address, kitchen.change, refused=kitchen.show),
    *(route for kind in (STORES, TABLES, TAGS, TERMS) for route in pages_of(kind)),
)
