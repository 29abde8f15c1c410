// Pages for developers, of people and of the second factor: what they are about is made by a login,
// and those that a form leads to, with a secret in them, are looked at as they come.

import { createHmac } from "node:crypto";
import {
  BASE, EMAIL, PASSWORD, faults, inContext, made, say, watched,
} from "./desk_browser.mjs";

async function asPerson(path, { token, body } = {}) {
  const headers = { "content-type": "application/json", "service-environment": "test" };
  if (token) headers.authorization = `Bearer ${token}`;
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(BASE + path, { method, headers, body: JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${JSON.stringify(told)}`);
  return told.data;
}

export async function stockDevelopers() {
  const login = { email: EMAIL, password: PASSWORD };
  const { accessToken: token } = await asPerson("/api/auth/login", { body: login });
  await asPerson("/api/auth/verify-password", { token, body: { password: PASSWORD } });
  const keys = await asPerson("/api/developer/api-keys", { token });
  const key = keys.find((one) => one.environment === "test");
  made.add(`/desk/developers/keys/${key.id}`);
  const endpoint = await asPerson("/api/developer/webhook-endpoints", {
    token,
    body: {
      name: "Shop with a rather long name",
      url: "https://shop.example.com/a/long/address/of/a/hook",
      environment: "test",
      events: ["*"],
    },
  });
  const address = `/api/developer/webhook-endpoints/${endpoint.id}/test`;
  const delivery = await asPerson(address, { token, body: {} });
  made.add(`/desk/developers/webhooks/${endpoint.id}`);
  made.add(`/desk/developers/webhooks/deliveries/${delivery.id}`);
  made.add(`/desk/developers/events/${delivery.eventId}`);
  const invited = { email: "somebody.with.a.long.address@mail.example", role: "cashier" };
  const member = await asPerson("/v1/members", { token, body: invited });
  for (const end of ["", "/remove"]) made.add(`/desk/people/${member.id}${end}`);
  const number = { phone_number: "+15550110077", label: "Front desk and night desk" };
  const telephone = await asPerson("/v1/voice/numbers", { token, body: number });
  made.add(`/desk/connections/telephones/${telephone.id}`);
}

// Press a button; the password is asked for once in a while.
async function press(page, name, password, where) {
  await page.getByRole("button", { name, exact: true }).click();
  const asked = page.locator("[name=step_up_password]");
  if (!(await asked.count())) return;
  await faults(page, `${where}, the password`);
  await asked.fill(password);
  await page.locator("form:has([name=step_up_password]) button").click();
}

async function knock(page, email, password) {
  await page.goto(`${BASE}/desk/sign-in`);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function enter(page, email, password) {
  await knock(page, email, password);
  await page.waitForURL(`${BASE}/desk`);
}

const SIZES = [["light", 320], ["dark", 768], ["light", 1440]];

export async function secrets() {
  for (const [colorScheme, width] of SIZES) {
    const context = await inContext({ colorScheme, viewport: { width, height: 900 } });
    const where = `secrets ${width} ${colorScheme}`;
    const page = await watched(context, where);
    await enter(page, EMAIL, PASSWORD);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.goto(`${BASE}/desk/developers/keys/new?preset=read`);
    await page.getByLabel("Name", { exact: true }).fill(`Reader ${width}`);
    await press(page, "Make key", PASSWORD, where);
    await page.locator("#secret").waitFor();
    await faults(page, `${where}, a new key`);
    await page.goto(`${BASE}/desk/developers/webhooks/signing`);
    await press(page, "View it, filled in", PASSWORD, where);
    await page.locator("#secret").waitFor();
    await faults(page, `${where}, signing`);
    await context.close();
  }
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// The code of half a minute, as an application shows it (RFC 6238).
function codeOf(secret) {
  const bits = [...secret].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, "0"));
  const key = Buffer.from(bits.join("").match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const turn = Buffer.alloc(8);
  turn.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const sign = createHmac("sha1", key).update(turn).digest();
  const word = sign.readUInt32BE(sign.at(-1) & 0xf) & 0x7fffffff;
  return String(word % 1_000_000).padStart(6, "0");
}

export async function factor() {
  for (const [colorScheme, width] of SIZES) {
    const where = `second factor ${width} ${colorScheme}`;
    const email = `factor.${width}@mail.example`;
    const password = "a long word for the factor";
    const business = { name: "Ada Obi", email, password, business_name: "Factor and sons" };
    await asPerson("/api/auth/register", { body: business });
    const context = await inContext({ colorScheme, viewport: { width, height: 900 } });
    const page = await watched(context, where);
    await enter(page, email, password);
    await page.goto(`${BASE}/desk/account/second-factor`);
    await faults(page, `${where}, off`);
    await press(page, "Set up a second factor", password, where);
    const secret = await page.locator("#secret").textContent();
    await faults(page, `${where}, begun`);
    await page.locator("[name=code]").fill(codeOf(secret.replaceAll(/\s/g, "")));
    await press(page, "Turn on", password, where);
    await page.locator("#codes").waitFor();
    await faults(page, `${where}, codes`);
    await page.goto(`${BASE}/desk/account/second-factor`);
    if (!(await page.getByRole("button", { name: /Turn (it )?off/ }).count())) {
      say(where, "it isn't on");
    }
    await faults(page, `${where}, on`);
    await context.clearCookies();
    // The question for a code has the status 401, which a browser notes as an error.
    const door = await context.newPage();
    await knock(door, email, password);
    await door.locator("[name=sign_in_code]").waitFor();
    await faults(door, `${where}, a code at the door`);
    await context.close();
  }
}
