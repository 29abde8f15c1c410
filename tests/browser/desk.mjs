// The desk in Chromium: from the printed address to the figures of a sale, each page with axe at
// three widths, in both schemes and both modes; by keyboard, and without scripts.

import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const { BASE, CHROMIUM, EMAIL, HUNG_MS, KEY, MODULES, OPENING, PASSWORD, SHOTS } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
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
  "/desk/account",
  "/desk/search",
  "/desk/search?q=chap",
  "/desk/keys",
];
// Pages of things that the journeys made, in the test book.
const made = new Set();
let wrong = 0;

function say(where, text) {
  wrong += 1;
  console.log(`${where}: ${text}`);
}

// No wait is over before a slow machine is ready.
async function inContext(options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(Number(HUNG_MS));
  return context;
}

async function watched(context, where) {
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && say(where, message.text()));
  page.on("pageerror", (error) => say(where, error.message));
  return page;
}

async function signIn(page) {
  await page.goto(`${BASE}/desk/sign-in`);
  await page.getByLabel("Email").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${BASE}/desk`);
}

async function faults(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { impact, id, nodes } of violations) {
    say(where, `${impact} ${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 200)}`);
  }
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (wide > 0) say(where, `${wide} wider than the screen`);
  const cut = await page.evaluate(() => {
    const figures = [...document.querySelectorAll(".figures dd")];
    return figures.find((one) => one.scrollWidth > one.clientWidth + 1)?.textContent;
  });
  if (cut) say(where, `a figure is cut: ${cut}`);
}

const sell = (amount) =>
  call("/v1/orders", {
    items: [{ product_name: "Jollof rice", quantity: 1, custom_price: amount }],
    amount_paid: amount,
    payment_method: "cash",
  });

async function stockGoods() {
  const store = await call("/v1/stores", { name: "Yaba" });
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

async function firstLook(javaScriptEnabled) {
  const where = `first look ${javaScriptEnabled ? "with" : "without"} scripts`;
  const page = await watched(await inContext({ javaScriptEnabled }), where);
  if (javaScriptEnabled) {
    await page.goto(OPENING);
    await page.getByRole("button", { name: "Open it" }).click();
  } else {
    await signIn(page);
    await page.getByRole("button", { name: "Test", exact: true }).click();
  }
  await page.waitForURL(`${BASE}/desk`);
  await page.getByText("Test mode").waitFor();
  await sell(12345);
  await page.goto(`${BASE}/desk`);
  await page.getByText("₦12,345").first().waitFor();
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await page.waitForURL(`${BASE}/desk`);
  if (await page.getByText("₦12,345").count()) say(where, "a test sale is shown in live");
  await page.goto(`${BASE}/desk/account`);
  await page.getByLabel("Your password now").fill("not the password");
  await page.getByLabel("New password").fill("another long enough phrase");
  const refused = page.waitForResponse((answer) => answer.status() === 403);
  page.removeAllListeners("console");
  await page.getByRole("button", { name: "Change password" }).click();
  await refused;
  await page.getByText("The password is wrong.").waitFor();
}

async function call(path, body) {
  const answer = await fetch(BASE + path, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(told)}`);
  return told.data;
}

// From the goods to the paid order, a part of it given back, and the receipt.
async function sale(javaScriptEnabled) {
  const where = `sale ${javaScriptEnabled ? "with" : "without"} scripts`;
  const name = javaScriptEnabled ? "Zobo" : "Chapman";
  const options = [{ name: "Grilled chicken", price_delta: 3000 }, { name: "None" }];
  const choice = { name, min_choices: 1, max_choices: 1, options };
  const group = await call("/v1/modifier-groups", choice);
  await call("/v1/products", { name, base_price: 1500.5 });
  const dish = `Jollof with ${name}`;
  await call("/v1/products", { name: dish, base_price: 4500, modifier_group_ids: [group.id] });
  const page = await watched(await inContext({ javaScriptEnabled }), where);
  await signIn(page);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  const began = Date.now();
  await page.getByRole("link", { name: "New sale" }).first().click();
  await page.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await page.getByRole("button", { name: `One ${name} more` }).click();
  await page.getByRole("button", { name: new RegExp(`^${dish}`) }).click();
  await page.getByLabel(/Grilled chicken/).check();
  await page.getByRole("button", { name: "Add to the sale" }).click();
  await page.getByLabel("Customer", { exact: true }).fill(`Guest of ${name}`);
  await page.getByLabel("Discount").fill("501");
  await page.getByRole("button", { name: "Record sale" }).click();
  await page.getByText("₦10,000.00").first().waitFor();
  made.add(new URL(page.url()).pathname);
  await page.getByRole("button", { name: "Record payment" }).click();
  await page.getByText("Paid", { exact: true }).first().waitFor();
  const clicks = 9;
  console.log(`${where}: ${clicks} clicks, ${Math.round((Date.now() - began) / 100) / 10} s`);
  await page.getByRole("link", { name: "Refund", exact: true }).click();
  made.add(new URL(page.url()).pathname);
  await page.getByLabel(`Quantity of ${name}`).fill("1");
  await page.getByRole("button", { name: "Refund" }).click();
  await page.getByText("Refunds", { exact: true }).waitFor();
  await page.getByRole("link", { name: `Guest of ${name}` }).click();
  await page.getByRole("heading", { name: `Guest of ${name}` }).waitFor();
  made.add(new URL(page.url()).pathname);
}

async function byKeyboard() {
  const page = await watched(await inContext(), "keyboard");
  await page.goto(`${BASE}/desk/sign-in`);
  await page.getByLabel("Email").focus();
  await page.keyboard.type(EMAIL);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${BASE}/desk`);
  await page.getByRole("button", { name: "Test", exact: true }).press("Enter");
  await page.getByText("Test mode").waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => document.activeElement.className);
  if (skip !== "skip") say("keyboard", `the first stop is ${skip}, not the skip link`);
  const seen = new Set();
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press("Tab");
    const { hidden, name } = await page.evaluate(() => {
      const at = document.activeElement;
      const box = at.getBoundingClientRect();
      const name = at.getAttribute("aria-label") ?? at.textContent.trim();
      return { hidden: at !== document.body && box.width * box.height === 0, name };
    });
    if (hidden) say("keyboard", `a stop that can't be seen: ${name}`);
    seen.add(name);
  }
  for (const name of ["Test", "Live", "Overview", "API", "Show as a table"]) {
    if (![...seen].some((one) => one.includes(name))) say("keyboard", `no stop at ${name}`);
  }
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL(`${BASE}/desk`);
}

// A second browser records payments; the first one's order page shows them by itself.
async function staysTrue() {
  const where = "a page that stays true";
  const pages = [];
  for (const name of ["first", "second"]) {
    const page = await watched(await inContext(), `${where}, the ${name}`);
    await signIn(page);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("Test mode").waitFor();
    pages.push(page);
  }
  const [page, other] = pages;
  const items = [{ product_name: "Suya", quantity: 1, custom_price: 777 }];
  const { id } = await call("/v1/orders", { items });
  const pay = async (amount) => {
    await other.goto(`${BASE}/desk/orders/${id}`);
    await other.getByLabel("Amount").fill(amount);
    await other.getByRole("button", { name: "Record payment" }).click();
    await other.waitForLoadState();
  };
  await page.goto(`${BASE}/desk/orders/${id}`);
  await page.evaluate(() => (window.isTheSame = true));
  // Words that are typed, and the place in them, stay; all else is shown.
  await page.getByLabel("Reference").pressSequentially("slip 4");
  await pay("300");
  await page.getByRole("heading", { name: "Payments", exact: true }).waitFor();
  await page.getByText("Part paid").first().waitFor();
  await page.keyboard.type("2");
  const typed = await page.getByLabel("Reference").inputValue();
  if (typed !== "slip 42") say(where, `typed was "slip 42", there is "${typed}"`);
  await page.goto(`${BASE}/desk/orders/${id}`);
  await page.evaluate(() => (window.isTheSame = true));
  await page.getByRole("link", { name: "Orders" }).last().focus();
  await pay("477");
  await page.getByText("Paid", { exact: true }).first().waitFor();
  const { focused, isTheSame } = await page.evaluate(() => {
    const { isTheSame } = window;
    return { focused: document.activeElement.textContent.trim(), isTheSame };
  });
  if (focused !== "Orders") say(where, `the focus went to ${focused}`);
  if (!isTheSame) say(where, "the page was loaded anew");
  await page.goto(`${BASE}/desk/orders`);
  await other.getByRole("button", { name: "Live", exact: true }).click();
  // In a tab of the same browser, another book: nothing of it comes into this page.
  const tab = await watched(page.context(), `${where}, a tab`);
  await tab.goto(`${BASE}/desk`);
  await tab.getByRole("button", { name: "Live", exact: true }).click();
  await tab.waitForURL(`${BASE}/desk`);
  page.removeAllListeners("console");
  await sell(4321);
  await page.getByText("something else is shown").waitFor();
  if (await page.getByText("₦4,321").count()) say(where, "a block of another book came");
  await tab.getByRole("button", { name: "Test", exact: true }).click();
  await page.reload();
  await page.getByText("₦4,321").first().waitFor();
  await page.context().setOffline(true);
  // Tabs without a window are never in the background: this one is told that it was.
  await page.evaluate(() => {
    const event = new Event("visibilitychange");
    Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
    document.dispatchEvent(event);
    Object.defineProperty(document, "hidden", { configurable: true, get: () => false });
    document.dispatchEvent(event);
  });
  await page.getByText(/^Not live since \d\d:\d\d/).waitFor();
  await sell(8765);
  await page.context().setOffline(false);
  await page.getByText("₦8,765").first().waitFor();
  await page.getByText(/^Not live since/).waitFor({ state: "detached" });
  for (const one of pages) await one.context().close();
}

// A filter brings its list alone: the address, the focus and Back stay.
async function filters() {
  const page = await watched(await inContext(), "filters");
  await signIn(page);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.goto(`${BASE}/desk/orders`);
  await page.evaluate(() => (window.isTheSame = true));
  await page.locator("#q").fill("zzzzz");
  await page.keyboard.press("Enter");
  await page.waitForURL(/search=zzzzz/);
  await page.locator("[data-block=list] table").waitFor({ state: "detached" });
  const { focused, isTheSame } = await page.evaluate(() => {
    const { isTheSame } = window;
    return { focused: document.activeElement.id, isTheSame };
  });
  if (focused !== "q" || !isTheSame) say("filters", `the focus is on ${focused}`);
  await page.goBack();
  await page.waitForURL(`${BASE}/desk/orders`);
  await page.locator("[data-block=list] table").waitFor();
  await page.context().close();
}

async function keys() {
  const page = await watched(await inContext(), "keys");
  await signIn(page);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  const { id, shortCode } = await call("/v1/orders", {
    items: [{ product_name: "Kilishi", quantity: 1, custom_price: 50 }],
  });
  await page.goto(`${BASE}/desk/orders`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${BASE}/desk/orders/${id}`);
  await page.keyboard.press("Escape");
  await page.waitForURL(`${BASE}/desk/orders`);
  await page.keyboard.press("/");
  await page.keyboard.type("njg?");
  if ((await page.locator("#q").inputValue()) !== "njg?") say("keys", "a letter was no letter");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await faults(page, "the table of keys");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search or go to" });
  await palette.waitFor();
  await faults(page, "the palette");
  await page.keyboard.type("wall");
  await palette.getByRole("link", { name: /^Orders/ }).waitFor({ state: "detached" });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${BASE}/desk/wallet`);
  await page.getByRole("link", { name: "Search or go to" }).click();
  await palette.waitFor();
  await page.keyboard.type(shortCode.toLowerCase());
  await page.keyboard.press("Enter");
  await page.waitForURL(`${BASE}/desk/orders/${id}`);
  await page.keyboard.press("n");
  await page.waitForURL(`${BASE}/desk/sell`);
  await page.goto(`${BASE}/desk/account`);
  await page.getByRole("button", { name: "They are not" }).click();
  await page.waitForURL(`${BASE}/desk/account`);
  await page.keyboard.press("n");
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  if (page.url() !== `${BASE}/desk/account`) say("keys", "a letter that is off led away");
  await page.context().close();
}

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
await everyPage();
await browser.close();
process.exit(wrong ? 1 : 0);
