// What the scripts of the desk share: Chromium, its contexts, a person who signs in, the API.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

export const { BASE, EMAIL, OPENING, PASSWORD, SHOTS } = process.env;
const { CHROMIUM, HUNG_MS, KEY, MODULES } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const { chromium } = require("playwright-core");
export const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
// Pages of things that the journeys made, in the test book.
export const made = new Set();
let wrong = 0;

export const found = () => wrong;

export function say(where, text) {
  wrong += 1;
  console.log(`${where}: ${text}`);
}

export async function faults(page, where) {
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
  const hidden = await page.evaluate(() => {
    const marks = [...document.querySelectorAll("svg:is([role=img], .stacked) > [class^=g-]")];
    return marks.find((one) => !one.checkVisibility())?.outerHTML;
  });
  if (hidden) say(where, `a mark of a chart is not shown: ${hidden}`);
}

// No wait is over before a slow machine is ready.
export async function inContext(options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(Number(HUNG_MS));
  return context;
}

// A page whose errors are told, but for those that are expected.
export async function watched(context, where, expected = /^$/) {
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text())) say(where, message.text());
  });
  page.on("pageerror", (error) => say(where, error.message));
  return page;
}

export async function signIn(page) {
  await page.goto(`${BASE}/desk/sign-in`);
  await page.getByLabel("Email").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${BASE}/desk`);
}

export async function call(path, body) {
  const answer = await fetch(BASE + path, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(told)}`);
  return told.data;
}

export const sell = (amount) =>
  call("/v1/orders", {
    items: [{ product_name: "Jollof rice", quantity: 1, custom_price: amount }],
    amount_paid: amount,
    payment_method: "cash",
  });
