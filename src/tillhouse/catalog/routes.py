"""The routes of the catalog, of all its parts."""

from tillhouse.catalog.places.routes import ROUTES as PLACES
from tillhouse.catalog.products.routes import ROUTES as PRODUCTS
from tillhouse.catalog.promotions.routes import ROUTES as PROMOTIONS
from tillhouse.catalog.stock.routes import ROUTES as STOCK
from tillhouse.http.route import Route

ROUTES: tuple[Route, ...] = (*PRODUCTS, *STOCK, *PROMOTIONS, *PLACES)
