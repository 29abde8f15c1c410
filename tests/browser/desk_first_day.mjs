// The first days of others than the seller: an integrator who comes from nothing to a delivery that
// its program verified, and mends a receiver; an owner who lets a cashier in.

import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { BASE, SHOTS, faults, inContext, say, watched } from "./desk_browser.mjs";

const { FOLDER, RECEIVER_PEM } = process.env;
const run = promisify(execFile);
const PHRASE = "a long enough phrase";

// A receiver of webhooks that can be broken; it keeps the bodies that it took.
async function receiver() {
  const pem = await readFile(RECEIVER_PEM);
  const state = { isBroken: false, taken: [] };
  const server = createServer({ key: pem, cert: pem }, (request, answer) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      if (!state.isBroken) state.taken.push(JSON.parse(Buffer.concat(pieces)));
      answer.writeHead(state.isBroken ? 500 : 204).end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { state, server, url: `https://127.0.0.1:${server.address().port}/hooks` };
}

// A page whose clicks are counted, with pictures and figures of how far it came.
async function counted(where) {
  const page = await watched(await inContext({ viewport: { width: 1440, height: 900 } }), where);
  await page.addInitScript(() => {
    const count = (event) => {
      if (event.isTrusted) localStorage.clicks = 1 + Number(localStorage.clicks ?? 0);
    };
    addEventListener("click", count, true);
  });
  const began = Date.now();
  let pictures = 0;
  const keep = async (name) => {
    await faults(page, `${where}, ${name}`);
    pictures += 1;
    const file = `${where.replaceAll(" ", "-")}-${pictures}-${name}.png`;
    if (SHOTS) await page.screenshot({ path: join(SHOTS, file), fullPage: true });
  };
  const tell = async (what) => {
    const clicks = await page.evaluate(() => localStorage.clicks);
    console.log(`${where}: ${what}, ${clicks} clicks, ${(Date.now() - began) / 1000} s`);
  };
  if (SHOTS) await mkdir(SHOTS, { recursive: true });
  return { page, keep, tell };
}

async function register(page, person, business) {
  await page.goto(`${BASE}/desk/register`);
  const typed = {
    "Your name": person, Email: `${person.split(" ")[0].toLowerCase()}@okoro.example`,
    Password: PHRASE, "Name of the business": business, "Time zone": "Africa/Lagos",
  };
  for (const [label, text] of Object.entries(typed)) {
    await page.getByLabel(label, { exact: true }).fill(text);
  }
  await page.getByLabel("Country", { exact: true }).selectOption("Nigeria");
  await page.getByLabel("Currency", { exact: true }).selectOption("NGN");
  await page.getByRole("button", { name: "Open the business" }).click();
  await page.getByRole("heading", { name: "Welcome" }).waitFor();
}

async function proveWith(page, phrase) {
  await page.getByLabel(/^Password of/).fill(phrase);
  await page.getByRole("button", { name: "Confirm" }).click();
}

// Waits until a reload shows it: these pages tell what was true when they were asked for.
async function reloadUntil(page, text, options) {
  while (!(await page.getByText(text, options).count())) await page.reload();
}

export async function integrator() {
  const where = "integrator";
  const { page, keep, tell } = await counted(where);
  const { state, server, url } = await receiver();
  await register(page, "Obi Okoro", "Okoro Software");
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("link", { name: "First call" }).click();
  await keep("first-call");
  await page.getByRole("link", { name: "New key" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shop server");
  await page.locator("input[value='voice:read']").check();
  await page.locator("input[value='orders:write']").check();
  await page.getByRole("button", { name: "Make key" }).click();
  await proveWith(page, PHRASE);
  await page.getByRole("heading", { name: "Copy the secret now" }).waitFor();
  const key = await page.locator("#secret").textContent();
  await page.getByRole("link", { name: "I have saved it" }).click();
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("link", { name: "First call" }).click();
  const command = await page.locator(".first pre").textContent();
  const { stdout } = await run("bash", ["-c", command], { env: { ...process.env, BASE, KEY: key } });
  if (!stdout.includes("API key is valid")) say(where, `the first call said ${stdout.slice(0, 300)}`);
  await tell("the first call is answered");
  await page.getByRole("link", { name: "New endpoint" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByLabel("Address", { exact: true }).fill(url);
  await page.getByLabel(/^Every event/).check();
  await page.getByRole("button", { name: "Make endpoint" }).click();
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("A test event is on its way").waitFor();
  const endpoint = page.url().split("?")[0];
  // The page asks by itself what became of it.
  await page.locator("[data-block=latest]").getByText("Delivered").first().waitFor();
  await tell("the first delivery arrived");
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await page.getByRole("link", { name: "Signing secret" }).click();
  await page.locator("#language").selectOption("JavaScript");
  await page.getByRole("button", { name: "View it, filled in" }).click();
  await page.getByText("This verifies your last delivery").waitFor();
  const program = join(FOLDER, "verify.cjs");
  await writeFile(program, await page.locator("#code").textContent());
  const verified = await run("node", [program]);
  if (verified.stdout.trim() !== "true") say(where, `verified: ${verified.stdout}`);
  await tell("the delivery is verified");
  await page.getByRole("link", { name: "API keys" }).first().click();
  await page.getByRole("link", { name: "First call" }).click();
  await page.getByText("That is all of it.").waitFor();
  await keep("all-ticked");
  await brokenReceiver(page, { keep, tell }, { state, endpoint, key });
  await page.context().close();
  server.close();
}

async function brokenReceiver(page, { keep, tell }, { state, endpoint, key }) {
  state.isBroken = true;
  const order = { items: [{ product_name: "Rice", quantity: 1, custom_price: 500 }] };
  const answer = await fetch(`${BASE}/v1/orders`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(order),
  });
  const { data } = await answer.json();
  await page.getByRole("link", { name: "Webhooks" }).first().click();
  await reloadUntil(page, "Failing");
  await page.getByRole("link", { name: "Shop", exact: true }).first().click();
  await reloadUntil(page, /failures in a row/);
  await keep("failing");
  await page.getByRole("link", { name: "order.created" }).first().click();
  await page.getByRole("heading", { name: "Attempts" }).waitFor();
  // Until its last attempt it is tried again by itself, and there is nothing to recover.
  await reloadUntil(page, "Failed", { exact: true });
  await keep("failed-delivery");
  await tell("the fault is found");
  state.isBroken = false;
  await page.goto(endpoint);
  await page.getByRole("button", { name: "Count", exact: true }).click();
  await page.getByText(/deliver(y|ies) would be queued/).waitFor();
  await page.getByRole("button", { name: "Queue them" }).click();
  await page.getByText(/queued again/).waitFor();
  await page.goto(endpoint);
  await reloadUntil(page, "Active");
  const came = state.taken.map((one) => JSON.stringify(one));
  if (!came.some((one) => one.includes(data.id))) say("integrator", `came: ${came}`.slice(0, 500));
  await keep("recovered");
  await tell("what was missed has come");
}

// The owner's link, the cashier's own browser, and what the cashier finds there.
export async function cashier() {
  const where = "cashier";
  const { page, keep, tell } = await counted(where);
  await register(page, "Ada Okoro", "Okoro Stores");
  await page.getByRole("link", { name: "People" }).first().click();
  await page.getByRole("link", { name: "Invite" }).first().click();
  await page.getByLabel("Email").fill("till@okoro.example");
  await page.getByRole("button", { name: "Invite" }).click();
  await proveWith(page, PHRASE);
  await page.getByRole("heading", { name: "Invitation made" }).waitFor();
  await keep("link");
  await tell("the link is made");
  const link = await page.locator("#link").textContent();
  await page.getByRole("link", { name: "People" }).first().click();
  const allowed = await page.locator("main").textContent();
  await keep("people");
  const other = await watched(await inContext({ viewport: { width: 320, height: 700 } }), where);
  await other.goto(link);
  await other.getByLabel("Your name").fill("Tola Ojo");
  await other.getByLabel("Password").fill(PHRASE);
  await other.getByRole("button", { name: "Join" }).click();
  await other.waitForURL(`${BASE}/desk**`);
  await faults(other, "cashier, first page");
  if (SHOTS) await other.screenshot({ path: join(SHOTS, "cashier-4-first-page.png") });
  const found = await other.locator("nav").first().textContent();
  for (const name of ["Wallet", "API keys", "People", "Webhooks"]) {
    if (found.includes(name)) say(where, `${name} is offered to a cashier`);
  }
  if (!found.includes("New sale")) say(where, `no sale: ${found}`);
  for (const path of ["/desk/wallet", "/desk/developers/keys", "/desk/people"]) {
    const answer = await other.request.get(BASE + path);
    if (answer.status() !== 403) say(where, `${path} answers ${answer.status()}`);
  }
  await reloadUntil(page, "Tola Ojo");
  if (!allowed.includes("Orders, payments, refunds")) say(where, `the table tells ${allowed}`);
  await tell("the cashier is in");
  await other.context().close();
  await page.context().close();
}
