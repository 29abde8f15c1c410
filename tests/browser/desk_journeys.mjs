// Ways through the desk: the first day, a sale, the keyboard, pages that stay true.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  BASE, EMAIL, OPENING, PASSWORD, SHOTS, call, faults, inContext, made, say, sell, signIn, watched,
} from "./desk_browser.mjs";

// From the bare address of an empty machine to money in the wallet, by clicks that are counted.
export async function fromNothing() {
  const where = "from nothing";
  const page = await watched(await inContext({ viewport: { width: 1440, height: 900 } }), where);
  await page.addInitScript(() => {
    const count = (event) => {
      if (event.isTrusted) localStorage.clicks = 1 + Number(localStorage.clicks ?? 0);
    };
    addEventListener("click", count, true);
  });
  const keep = async (name) => {
    if (SHOTS) await page.screenshot({ path: join(SHOTS, `journey-${name}.png`), fullPage: true });
  };
  const began = Date.now();
  const tell = async (what) => {
    const clicks = await page.evaluate(() => localStorage.clicks);
    console.log(`${where}: ${what}, ${clicks} clicks, ${(Date.now() - began) / 1000} s`);
  };
  if (SHOTS) await mkdir(SHOTS, { recursive: true });
  await page.goto(BASE);
  await keep("1-door");
  await page.getByRole("link", { name: "Open a business" }).first().click();
  const typed = {
    "Your name": "Ngozi Eze", Email: "ngozi@eze.example", Password: "a long enough phrase",
    "Name of the business": "Eze & Daughters", "Time zone": "Africa/Lagos",
  };
  for (const [label, text] of Object.entries(typed)) {
    await page.getByLabel(label, { exact: true }).fill(text);
  }
  await page.getByLabel("Country", { exact: true }).selectOption("Nigeria");
  await page.getByLabel("Currency", { exact: true }).selectOption("NGN");
  await page.getByRole("button", { name: "Open the business" }).click();
  await page.getByRole("heading", { name: "Welcome, Ngozi" }).waitFor();
  await keep("2-first-steps");
  await page.getByRole("link", { name: "Add a product" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Jollof rice");
  await page.getByLabel("Price", { exact: true }).fill("4500");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Jollof rice" }).waitFor();
  await page.getByRole("link", { name: "New sale" }).first().click();
  await page.getByRole("button", { name: /^Jollof rice/ }).click();
  await page.getByRole("button", { name: "Record sale" }).click();
  await page.getByRole("button", { name: "Record payment" }).click();
  await page.getByText("Paid", { exact: true }).first().waitFor();
  await keep("3-first-sale");
  await tell("the first sale is paid");
  await page.getByRole("link", { name: "Payment links" }).first().click();
  await page.getByRole("link", { name: "New link" }).first().click();
  await page.getByLabel("What for").fill("Deposit for Saturday");
  await page.getByLabel("Amount", { exact: true }).fill("25000");
  await page.getByRole("button", { name: "Make link" }).click();
  await page.getByRole("heading", { name: /Deposit for Saturday/ }).waitFor();
  await keep("4-link");
  const href = await page.locator('a[href*="/pay/"]').first().getAttribute("href");
  const payer = await watched(page.context(), "payer");
  await payer.goto(new URL(href, BASE).href);
  await payer.getByRole("button", { name: "Exact" }).click();
  await payer.getByRole("heading", { name: "Paid" }).waitFor();
  if (SHOTS) await payer.screenshot({ path: join(SHOTS, "journey-5-checkout.png") });
  // The page of the link changes by itself.
  await page.getByText("Paid", { exact: true }).first().waitFor();
  await keep("6-link-paid");
  await tell("the link is paid");
  await page.getByRole("link", { name: "Wallet" }).first().click();
  await page.getByText(/₦2[45],\d{3}/).first().waitFor();
  await keep("7-wallet");
  await page.getByRole("link", { name: "Overview" }).first().click();
  await page.getByText("₦4,500").first().waitFor();
  await keep("8-overview");
  await tell("the money is seen");
}

export async function firstLook(javaScriptEnabled) {
  const where = `first look ${javaScriptEnabled ? "with" : "without"} scripts`;
  // A page may ask for its blocks as the book is changed: it is told so, by 409.
  const page = await watched(await inContext({ javaScriptEnabled }), where, /\b409\b/);
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

// From the goods to the paid order, a part of it given back, and the receipt.
export async function sale(javaScriptEnabled) {
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

export async function byKeyboard() {
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
export async function staysTrue() {
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
  await tab.close();
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
export async function filters() {
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

export async function keys() {
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
  // What is typed before the palette is there are words for it, and no letters that lead away.
  let arrive;
  const arrives = new Promise((done) => (arrive = done));
  await page.route("**/desk/search*", async (route) => {
    await arrives;
    await route.continue();
  });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("njg?");
  arrive();
  const palette = page.getByRole("dialog", { name: "Search or go to" });
  await palette.waitFor();
  await page.unroute("**/desk/search*");
  const early = await palette.getByRole("searchbox").inputValue();
  if (early !== "njg?") say("keys", `the palette heard "${early}"`);
  await page.keyboard.press("Control+a");
  await faults(page, "the palette");
  await page.keyboard.type("wall");
  await palette.getByRole("link", { name: /^Wallet/ }).first().waitFor();
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
  await page.getByRole("button", { name: "Single letters do nothing" }).click();
  await page.waitForURL(`${BASE}/desk/account`);
  await page.keyboard.press("n");
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  await palette.waitFor();
  if (page.url() !== `${BASE}/desk/account`) say("keys", "a letter that is off led away");
  await page.context().close();
}
