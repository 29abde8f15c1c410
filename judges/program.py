"""A sale by the generated client of openapi-python-client: typed, then run against a server."""

import sys

from client import AuthenticatedClient
from client.api.customers import customers_create
from client.api.orders import orders_create, orders_list
from client.models import (
    CustomersCreateResponse201,
    Error,
    NewCustomer,
    NewItem,
    NewOrder,
    OrdersCreateResponse201,
    OrdersListResponse200,
    OrderStatus,
)


def main(address: str, key: str) -> None:
    """Record an order and find it again."""
    client = AuthenticatedClient(base_url=address, token=key)
    customer = customers_create.sync(client=client, body=NewCustomer(name="Chinedu Eze"))
    assert isinstance(customer, CustomersCreateResponse201), customer
    item = NewItem(product_name="Delivery", quantity=1, custom_price="499.50")
    packing = NewItem(product_name="Packing", quantity=1, custom_price=0.5)
    body = NewOrder(items=[item, packing], customer_id=customer.data.id)
    recorded = orders_create.sync(client=client, body=body)
    assert isinstance(recorded, OrdersCreateResponse201), recorded
    page = orders_list.sync(client=client, status=[OrderStatus.PENDING], limit=5)
    assert isinstance(page, OrdersListResponse200), page
    assert page.summary.total_orders >= 1
    assert page.data[0].id == recorded.data.id
    assert recorded.data.remaining_amount == 500
    refused = orders_create.sync(client=client, body=NewOrder(items=[]))
    assert isinstance(refused, Error)
    assert refused.error == "validation_error", refused


main(*sys.argv[1:])
