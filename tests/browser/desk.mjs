// The desk in Chromium: from the printed address to the figures of a sale, each page with axe at
// three widths, in both schemes and both modes; by keyboard, on paper, and without scripts.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  BASE, SHOTS, browser, call, faults, found, inContext, made, say, sell, signIn, watched,
} from "./desk_browser.mjs";
import { factor, secrets, stockDevelopers } from "./desk_developers.mjs";
import {
  byKeyboard, filters, firstLook, fromNothing, keys, sale, staysTrue,
} from "./desk_journeys.mjs";
import { cashier, integrator } from "./desk_first_day.mjs";

const DOOR = ["/", "/desk/sign-in", "/desk/register"];
const INSIDE = [
  "/desk",
  "/desk/sell",
  "/desk/orders",
  "/desk/customers",
  "/desk/customers/new",
  "/desk/products",
  "/desk/products/new",
  "/desk/products/categories",
  "/desk/products/choices",
  "/desk/products/choices/new",
  "/desk/products/stock",
  "/desk/products/stock/count",
  "/desk/products/stock/transfer",
  "/desk/products/stock/moves",
  "/desk/products/promotions",
  "/desk/products/promotions/new",
  "/desk/links",
  "/desk/links/new",
  "/desk/finance",
  "/desk/finance/transactions",
  "/desk/finance/expenses",
  "/desk/finance/debts",
  "/desk/finance/disputes",
  "/desk/wallet",
  "/desk/wallet/withdraw",
  "/desk/wallet/withdrawals",
  "/desk/wallet/accounts",
  "/desk/connections",
  "/desk/connections/messaging",
  "/desk/connections/telephones",
  "/desk/connections/telephones/new",
  "/desk/connections/telephones/new?provider=twilio",
  "/desk/people",
  "/desk/people/invite",
  "/desk/settings",
  "/desk/settings/business",
  "/desk/settings/sales",
  "/desk/settings/stores",
  "/desk/settings/stores/new",
  "/desk/settings/tables/new",
  "/desk/settings/kitchen",
  "/desk/settings/tags",
  "/desk/settings/terms/new",
  "/desk/account",
  "/desk/account/second-factor",
  "/desk/developers/begin",
  "/desk/developers/keys",
  "/desk/developers/keys/apps",
  "/desk/developers/keys/new",
  "/desk/developers/keys/new?preset=read",
  "/desk/developers/webhooks",
  "/desk/developers/webhooks/new",
  "/desk/developers/webhooks/deliveries",
  "/desk/developers/webhooks/signing",
  "/desk/developers/logs",
  "/desk/developers/events",
  "/desk/developers/usage",
  "/desk/begin",
  "/desk/commands?call.1=orders:read%20/v1/orders",
  "/desk/commands/try?method=GET&path=/v1/orders&send=yes",
  "/desk/commands/try?method=POST&path=/v1/orders",
  "/desk/search",
  "/desk/search?q=chap",
  "/desk/keys",
];

async function stockGoods() {
  const store = await call("/v1/stores", { name: "Yaba", address: "14 Herbert Macaulay Way" });
  made.add(`/desk/settings/stores/${store.id}`);
  const group = await call("/v1/modifier-groups", { name: "Pepper", options: [{ name: "Hot" }] });
  const category = await call("/v1/categories", { name: "Drinks" });
  const product = await call("/v1/products", {
    name: "Chapman",
    base_price: 2500,
    category_id: category.id,
    modifier_group_ids: [group.id],
    variants: [
      { name: "Half pint", tracks_stock: true, low_stock_threshold: 50 },
      { name: "Full pint with a rather long name", price: 3800.5, sku: "CHAPMAN-FULL" },
    ],
  });
  const [{ id: variant_id }] = product.variants;
  const bought = { variant_id, store_id: store.id, kind: "purchase", quantity: 40 };
  await call("/v1/inventory/adjustments", { ...bought, reason: "Delivery of Monday" });
  const address = `/desk/products/${product.id}`;
  const ends = ["", "/edit", "/delete", "/parts", "/variants/new", `/variants/${variant_id}`];
  for (const end of ends) made.add(address + end);
  const offer = { name: "Drinks week", type: "percent", value: 10, days: [5, 6] };
  const promotion = await call("/v1/promotions", { ...offer, ends_at: "2099-12-24" });
  const others = [
    ["categories", category], ["choices", group], ["promotions", promotion],
  ];
  for (const [area, { id }] of others) made.add(`/desk/products/${area}/${id}`);
}

// On paper a page is dark on white in any scheme, has nothing to press, and says that it is a test.
async function onPaper(page, where) {
  await page.emulateMedia({ media: "print" });
  await faults(page, where);
  const { color, pressed, said } = await page.evaluate(() => {
    const found = [...document.querySelectorAll("nav, .btn, .filters, .band")];
    return {
      color: getComputedStyle(document.body).backgroundColor,
      pressed: found.find((one) => one.checkVisibility())?.outerHTML.slice(0, 200),
      said: getComputedStyle(document.querySelector("main"), "::before").content,
    };
  });
  if (pressed) say(where, `on paper: ${pressed}`);
  if (color !== "rgb(255, 255, 255)") say(where, `the paper is ${color}`);
  if (!said.includes("TEST")) say(where, `a test is not said: ${said}`);
  await page.emulateMedia({ media: null });
}

async function everyPage() {
  if (SHOTS) await mkdir(SHOTS, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [320, 768, 1440]) {
      const context = await inContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await watched(context, `${width} ${colorScheme}`);
      const look = async (path, mode) => {
        await page.goto(BASE + path);
        const where = `${path} ${width} ${colorScheme} ${mode}`;
        await faults(page, where);
        if (width === 768 && mode === "Test") await onPaper(page, `${where} printed`);
        const name = where.replaceAll(/[^a-z0-9]+/gi, "-");
        if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
      };
      for (const path of DOOR) await look(path, "door");
      await signIn(page);
      for (const mode of ["Test", "Live"]) {
        await page.getByRole("button", { name: mode, exact: true }).click();
        for (const path of INSIDE) await look(path, mode);
        if (mode === "Test") for (const path of made) await look(path, mode);
      }
      await context.close();
    }
  }
}

await fromNothing();
await integrator();
await cashier();
await staysTrue();
await filters();
await keys();
await firstLook(true);
await firstLook(false);
await byKeyboard();
await sale(true);
await sale(false);
// Sums of ten digits are told whole, at every width.
await sell(123456789.5);
await stockGoods();
await stockDevelopers();
await secrets();
await factor();
if (process.env.JOURNEYS !== "alone") await everyPage();
await browser.close();
process.exit(found() ? 1 : 0);
