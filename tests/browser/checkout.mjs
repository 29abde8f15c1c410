// The hosted checkout in Chromium: every state with axe, narrow and wide, light and dark; a payment
// from the page to the shop, with scripts and without.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const { BASE, CHROMIUM, EXPIRED, HUNG_MS, KEY, MODULES, SHOTS } = process.env;
const require = createRequire(join(MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"],
});
const SHOP = `${BASE}/docs`;
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

async function call(method, path, body) {
  const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
  const sent = { method, headers, body: body && JSON.stringify(body) };
  const answer = await fetch(BASE + path, sent);
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(told)}`);
  return told.data;
}

const link = (fields = {}) =>
  call("POST", "/v1/payment-links/wallet/dynamic", {
    title: "Deposit for the hall, with a garden and everything that belongs to it",
    amount: 16460.5,
    ...fields,
  });
const path = (made) => new URL(made.url).pathname;

async function watched(context, where) {
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && say(where, message.text()));
  page.on("pageerror", (error) => say(where, error.message));
  return page;
}

async function simulate(page, name) {
  await page.getByRole("button", { name, exact: true }).click();
}

async function paid(page) {
  await page.getByText("has your payment").waitFor();
}

// Each state is reached as a payer reaches it.
async function states(context) {
  const made = {};
  for (const name of ["waiting", "under", "over", "failed", "paid", "cancelled"]) {
    made[name] = path(await link());
  }
  const press = { under: "Half of it", over: "Half more", failed: "Fails", paid: "Exact" };
  const seen = {
    under: "has arrived", over: "More arrived", failed: "last attempt failed", paid: "has your",
  };
  for (const [name, button] of Object.entries(press)) {
    const page = await watched(context, name);
    await page.goto(BASE + made[name]);
    await simulate(page, button);
    await page.getByText(seen[name]).first().waitFor();
    await page.close();
  }
  const rows = await call("GET", `/v1/payment-links?search=${made.cancelled.split("/").pop()}`);
  await call("DELETE", `/v1/payment-links/${rows[0].id}`);
  return { ...made, expired: `/pay/${EXPIRED}`, unknown: "/pay/pl_nothing" };
}

async function judge(made) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [320, 1280]) {
      const viewport = { width, height: width < 500 ? 640 : 900 };
      const context = await inContext({ viewport, colorScheme, reducedMotion: "reduce" });
      for (const [name, at] of Object.entries(made)) {
        const where = `${name} ${width} ${colorScheme}`;
        const page = await context.newPage();
        page.on("pageerror", (error) => say(where, error.message));
        const bodies = [];
        page.on("response", (one) => {
          // The stream of events ends with the page.
          const isStream = one.headers()["content-type"]?.startsWith("text/event-stream");
          if (!isStream) bodies.push(one.body().catch(() => ""));
        });
        await page.goto(BASE + at, { waitUntil: "load" });
        await page.$$eval("details", (all) => all.forEach((one) => (one.open = true)));
        const shot = join(SHOTS, `${where.replaceAll(" ", "-")}.png`);
        if (SHOTS) await page.screenshot({ path: shot, fullPage: true });
        const bytes = (await Promise.all(bodies)).reduce((sum, one) => sum + one.length, 0);
        if (bytes > 30000) say(where, `${bytes} bytes`);
        const { violations } = await page.evaluate(`${axe}; axe.run()`).catch(async () => {
          const checked = await context.newCDPSession(page);
          const { result } = await checked.send("Runtime.evaluate", {
            expression: `${axe}; axe.run()`, awaitPromise: true, returnByValue: true,
          });
          return result.value;
        });
        for (const { impact, id, nodes } of violations) {
          say(where, `${impact} ${id}: ${nodes[0].html.slice(0, 200)}`);
        }
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (overflow > 0) say(where, `${overflow} px wider than the screen`);
        await page.close();
      }
      await context.close();
    }
  }
}

async function journeys() {
  // The page changes by itself, and leads to the shop with both parameters.
  const made = await link({ redirect_url: `${SHOP}?cart=7#end` });
  const context = await inContext();
  const one = await watched(context, "journey");
  const other = await watched(context, "journey, another tab");
  // A network that lets no stream through: this page asks now and then.
  const asking = await context.newPage();
  await asking.route("**/events?**", (route) => route.abort());
  for (const page of [one, other, asking]) await page.goto(BASE + path(made));
  await simulate(other, "Exact");
  for (const page of [one, other, asking]) {
    await page.waitForURL(/payment_status=successful/);
    const url = new URL(page.url());
    const got = [url.searchParams.get("cart"), url.searchParams.get("payment_reference"), url.hash];
    if (got.join() !== ["7", made.reference, "#end"].join()) say("journey", page.url());
  }
  // Without scripts: the button asks, and the answer leads on.
  const bare = await inContext({ javaScriptEnabled: false });
  const page = await bare.newPage();
  const again = await link({ redirect_url: SHOP });
  await page.goto(BASE + path(again));
  await simulate(page, "Exact");
  await page.getByRole("button", { name: "I have paid, check now" }).click();
  await page.waitForURL(/payment_status=successful/);
  const left = await link();
  await page.goto(BASE + path(left));
  await page.getByRole("button", { name: "Leave without paying" }).click();
  await page.getByText("You left without paying").waitFor();
}

await judge(await states(await inContext()));
await journeys();
await browser.close();
console.log(wrong ? `${wrong} findings` : "Nothing to mend.");
process.exit(wrong ? 1 : 0);
