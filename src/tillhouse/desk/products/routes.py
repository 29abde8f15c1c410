"""All pages of goods."""

from tillhouse.desk.products.categories import ROUTES as CATEGORIES
from tillhouse.desk.products.choices import ROUTES as CHOICES
from tillhouse.desk.products.pages import ROUTES as PRODUCTS
from tillhouse.desk.products.promotions import ROUTES as PROMOTIONS
from tillhouse.desk.products.stock import ROUTES as STOCK
from tillhouse.desk.products.variants import ROUTES as VARIANTS

ROUTES = (*PRODUCTS, *VARIANTS, *CATEGORIES, *CHOICES, *STOCK, *PROMOTIONS)
