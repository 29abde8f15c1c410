"""The operations that pages of goods call."""

from tillhouse.desk.operations import Operation
from tillhouse.products.room import ROOM as PRODUCTS
from tillhouse.promotions.room import ROOM as OFFERS
from tillhouse.stock.room import ROOM as STOCK

PRODUCT = Operation(PRODUCTS, "GET", "/v1/products/{product_id}")
MAKE = Operation(PRODUCTS, "POST", "/v1/products")
CHANGE = Operation(PRODUCTS, "PATCH", "/v1/products/{product_id}")
DELETE = Operation(PRODUCTS, "DELETE", "/v1/products/{product_id}")
CATEGORIES = Operation(PRODUCTS, "GET", "/v1/categories")
GROUPS = Operation(PRODUCTS, "GET", "/v1/modifier-groups")
LEVELS = Operation(STOCK, "GET", "/v1/inventory")
MOVES = Operation(STOCK, "GET", "/v1/inventory/moves")
ADD_VARIANT = Operation(PRODUCTS, "POST", "/v1/products/{product_id}/variants")
CHANGE_VARIANT = Operation(PRODUCTS, "PATCH", "/v1/variants/{variant_id}")
DELETE_VARIANT = Operation(PRODUCTS, "DELETE", "/v1/variants/{variant_id}")
MAKE_CATEGORY = Operation(PRODUCTS, "POST", "/v1/categories")
CATEGORY = Operation(PRODUCTS, "GET", "/v1/categories/{category_id}")
CHANGE_CATEGORY = Operation(PRODUCTS, "PATCH", "/v1/categories/{category_id}")
DELETE_CATEGORY = Operation(PRODUCTS, "DELETE", "/v1/categories/{category_id}")
MAKE_GROUP = Operation(PRODUCTS, "POST", "/v1/modifier-groups")
GROUP = Operation(PRODUCTS, "GET", "/v1/modifier-groups/{modifier_group_id}")
CHANGE_GROUP = Operation(PRODUCTS, "PATCH", "/v1/modifier-groups/{modifier_group_id}")
DELETE_GROUP = Operation(PRODUCTS, "DELETE", "/v1/modifier-groups/{modifier_group_id}")
ADJUST = Operation(STOCK, "POST", "/v1/inventory/adjustments")
COUNT = Operation(STOCK, "POST", "/v1/inventory/counts")
TRANSFER = Operation(STOCK, "POST", "/v1/inventory/transfers")
PROMOTIONS = Operation(OFFERS, "GET", "/v1/promotions")
MAKE_PROMOTION = Operation(OFFERS, "POST", "/v1/promotions")
PROMOTION = Operation(OFFERS, "GET", "/v1/promotions/{promotion_id}")
CHANGE_PROMOTION = Operation(OFFERS, "PATCH", "/v1/promotions/{promotion_id}")
DELETE_PROMOTION = Operation(OFFERS, "DELETE", "/v1/promotions/{promotion_id}")
