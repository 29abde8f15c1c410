// Every page in Chromium, narrow and wide, light and dark: axe, overflow, errors, the keyboard.

import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const { BASE, CHROMIUM, HUNG_MS, MODULES, ONLY, SHOTS } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
const ORDERS = "/docs/api/orders";
const CREATE = "#post-v1-orders";
let wrong = 0;

// No wait is over before a slow machine is ready.
async function inContext(options = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(Number(HUNG_MS));
  return context;
}

function say(where, text) {
  wrong += 1;
  console.log(`${where}: ${text}`);
}

async function opened(context, path) {
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && say(path, message.text()));
  page.on("pageerror", (error) => say(path, error.message));
  await page.goto(BASE + path, { waitUntil: "load" });
  return page;
}

async function faults(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { impact, id, nodes } of violations) {
    say(where, `${impact} ${id}, ${nodes.length} times: ${nodes[0].html.slice(0, 200)}`);
  }
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return null;
    const all = [...document.querySelectorAll("main :not(pre *, .table *), header *")];
    const wide = all.find((one) => one.getBoundingClientRect().right > width + 1);
    return wide?.outerHTML.slice(0, 200) ?? "something";
  });
  if (wide) say(where, `wider than the screen: ${wide}`);
}

async function everyPage() {
  const first = await opened(await inContext(), "/docs");
  const named = await first.$$eval("#nav a", (links) => links.map((link) => link.pathname));
  const paths = ONLY ? ONLY.split(",") : new Set(named.filter((path) => path.startsWith("/docs")));
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [320, 1280]) {
      const viewport = { width, height: width < 500 ? 640 : 900 };
      const context = await inContext({ viewport, colorScheme, reducedMotion: "reduce" });
      for (const path of paths) {
        const page = await opened(context, path);
        const name = `${path.slice(1).replaceAll("/", "-")}-${width}-${colorScheme}.png`;
        if (SHOTS) await page.screenshot({ path: join(SHOTS, name) });
        await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
        await faults(page, `${path} at ${width} in ${colorScheme}`);
        await page.close();
      }
      await context.close();
    }
  }
  return [...paths].length;
}

function expect(is, text) {
  if (!is) say("by keyboard", text);
}

async function byKeyboard() {
  const page = await opened(await inContext(), ORDERS);
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => document.activeElement.className);
  expect(skip === "skip", "the first stop is the link to the content");
  await page.keyboard.press("Enter");
  const focused = await page.evaluate(() => document.activeElement.id);
  expect(focused === "main", "it leads to the content");
  await page.keyboard.press("/");
  await page.keyboard.type("record an order");
  await page.waitForSelector(".found a");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${ORDERS}${CREATE}`);
  await page.close();
}

async function onATelephone() {
  const context = await inContext({ viewport: { width: 320, height: 640 } });
  const page = await opened(context, ORDERS);
  await page.locator(".to-nav").press("Enter");
  expect(await page.isVisible("#nav"), "the menu opens");
  await page.locator(`#nav a[href="${CREATE}"]`).press("Enter");
  expect(!(await page.isVisible("#nav")), "the menu closes when something was chosen");
  expect(page.url().endsWith(CREATE), "and leads there");
  await page.close();
}

async function trying() {
  const page = await opened(await inContext(), ORDERS);
  const operation = page.locator(CREATE);
  await operation.getByRole("button", { name: "Try it" }).press("Enter");
  await page.keyboard.type("thsk_test_secret");
  const keys = new Set();
  for (let times = 0; times < 2; times += 1) {
    const answered = page.waitForResponse((one) => one.url().endsWith("/v1/orders"));
    await operation.getByRole("button", { name: "Send POST" }).click();
    const { method, headers, body } = await (await answered).json();
    expect(method === "POST" && JSON.parse(body).items.length > 0, "the example is sent");
    expect(headers.Authorization === "Bearer thsk_test_secret", "with the credential");
    keys.add(headers["Idempotency-Key"]);
    await operation.locator(".answer pre").waitFor();
  }
  expect(keys.size === 2 && !keys.has(undefined), "each request has a key of its own");
  await faults(page, "trying a request");
  await page.close();
}

async function withoutScripts() {
  const context = await inContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(BASE + ORDERS);
  const buttons = await page.locator("button:visible, input:visible").count();
  expect(buttons === 0, "no button is dead without scripts");
  const shown = await page.locator(`${CREATE} pre`).first().innerText();
  expect(shown.includes("curl"), "examples are there without scripts");
  await context.close();
}

if (SHOTS) await mkdir(SHOTS, { recursive: true });
await byKeyboard();
await onATelephone();
await trying();
await withoutScripts();
const pages = await everyPage();
await browser.close();
console.log(`${pages} pages, ${wrong} findings`);
process.exitCode = wrong ? 1 : 0;
