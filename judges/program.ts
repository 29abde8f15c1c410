// A sale by the generated client of @hey-api/openapi-ts: typed, then run against a server.
import { client } from "./client/client.gen";
import { customersCreate, ordersCreate, ordersList } from "./client/sdk.gen";
import type { NewOrder, Order } from "./client/types.gen";
import type { components } from "./types";

async function main(address: string, key: string): Promise<void> {
  client.setConfig({ baseUrl: address, headers: { authorization: `Bearer ${key}` } });

  const customer = await customersCreate({ body: { name: "Chinedu Eze" }, throwOnError: true });
  // No field of a request is required because it has a default.
  const body: NewOrder = {
    items: [
      { product_name: "Delivery", quantity: 1, custom_price: "499.50", line_type: "fee" },
      { product_name: "Packing", quantity: 1, custom_price: 0.5, line_type: "fee" },
    ],
    customer_id: customer.data.data.id,
  };
  const recorded = await ordersCreate({ body, throwOnError: true });
  const order: Order = recorded.data.data;
  // The types of openapi-typescript say the same.
  const same: components["schemas"]["Order"] = order;
  const page = await ordersList({ query: { status: ["pending"], limit: 5 }, throwOnError: true });
  const refused = await ordersCreate({ body: { items: [] } });
  const code: components["schemas"]["ErrorCode"] | undefined = refused.error?.error;
  if (page.data.summary.totalOrders !== 1 || page.data.data[0]?.id !== same.id) throw Error("lost");
  if (order.remainingAmount !== 500 || order.deposit !== null) throw Error("wrong amounts");
  if (code !== "validation_error") throw Error(`refused with ${code}`);
  console.log(`${order.shortCode}: ${order.totalAmount} ${order.currency}`);
}

const [address, key] = process.argv.slice(2) as [string, string];
void main(address, key);
