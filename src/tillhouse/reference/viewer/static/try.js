// "Try it" at every operation: a form made of what the page says, sent to this server.

import { copyButtons } from "./copy.js";

// Kept as long as the page is open, nowhere else.
let credential = "";

export function tryIt() {
  for (const operation of document.querySelectorAll("[data-operation]")) {
    const block = operation.querySelector(".examples .code");
    const button = element("button", { type: "button", className: "btn try" });
    button.textContent = "Try it";
    button.setAttribute("aria-expanded", "false");
    let form = null;
    button.addEventListener("click", () => {
      if (form === null) block.after((form = formOf(operation)));
      else form.hidden = !form.hidden;
      button.setAttribute("aria-expanded", String(!form.hidden));
      if (!form.hidden) {
        renew(form);
        form.querySelector("input, textarea, button").focus();
      }
    });
    block.querySelector(".bar").append(button);
  }
}

function formOf(operation) {
  const form = element("form", { className: "try-form" });
  const id = `${operation.id}-try`;
  const title = operation.querySelector("h2").textContent;
  form.setAttribute("aria-label", `Try: ${title}`);
  if ("credential" in operation.dataset) {
    const attributes = { type: "password", name: "credential", value: credential };
    form.append(labelled(`${id}-credential`, "API key or access token", attributes));
  }
  for (const group of operation.querySelectorAll("[data-parameters]")) {
    const inputs = [...group.querySelectorAll(":scope > .fields > div")].map((field) => {
      const name = field.querySelector("dt").textContent;
      const attributes = { type: "text", name, required: group.dataset.parameters === "path" };
      return labelled(`${id}-${name}`, name, attributes);
    });
    for (const line of inputs) line.querySelector("input").dataset.in = group.dataset.parameters;
    form.append(...(inputs.length > 3 ? [folded("Query parameters", inputs)] : inputs));
  }
  const example = operation.querySelector("[data-body]");
  if (example) {
    const text = example.textContent.replaceAll("'\\''", "'");
    const attributes = { name: "body", value: text, rows: Math.min(text.split("\n").length, 16) };
    form.append(labelled(`${id}-body`, "Body", attributes, "textarea"));
  }
  const send = `Send ${operation.dataset.method}`;
  const answer = element("div", { className: "answer" });
  answer.setAttribute("role", "status");
  form.append(element("button", { className: "btn primary", textContent: send }), answer);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    request(operation.dataset, form, answer);
  });
  return form;
}

async function request({ method, path }, form, answer) {
  const query = new URLSearchParams();
  const headers = { Accept: "application/json" };
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.value === "") continue;
    const { name, value } = input;
    if (input.dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (input.dataset.in === "query") query.append(name, value);
    if (input.dataset.in === "header") headers[name] = value;
  }
  const secret = form.elements.namedItem("credential")?.value.trim();
  if (secret) headers.Authorization = `Bearer ${secret}`;
  credential = secret ?? credential;
  const body = form.elements.namedItem("body")?.value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const address = query.size ? `${path}?${query}` : path;
  const began = performance.now();
  try {
    const sent = { method, headers, body, credentials: "omit", cache: "no-store" };
    const response = await fetch(address, sent);
    const text = await response.text();
    show(answer, response, text, Math.round(performance.now() - began));
    if (response.ok) renew(form);
  } catch (error) {
    answer.replaceChildren(element("p", { textContent: `Nothing came back: ${error.message}` }));
  }
}

function show(answer, response, text, took) {
  const status = `${response.status} ${response.statusText} in ${took} ms`;
  const names = ["X-Request-Id", "Idempotent-Replayed", "RateLimit", "Retry-After"];
  const told = names.filter((name) => response.headers.has(name));
  const lines = told.map((name) => `${name}: ${response.headers.get(name)}`);
  const bar = element("div", { className: "bar" });
  bar.append(element("span", { textContent: status }));
  const pre = element("pre", { tabIndex: 0, textContent: [...lines, "", pretty(text)].join("\n") });
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", "Answer");
  const code = element("div", { className: "code" });
  code.append(bar, pre);
  answer.replaceChildren(code);
  copyButtons(answer);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Each request is a new one: a key that was used would replay its answer.
function renew(form) {
  const key = form.elements.namedItem("Idempotency-Key");
  if (key) key.value = uuid();
  const shown = form.elements.namedItem("credential");
  if (shown && !shown.value) shown.value = credential;
}

// crypto.randomUUID() is there on secure addresses only.
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function labelled(id, text, attributes, tag = "input") {
  const line = element("p", {});
  const label = element("label", { htmlFor: id, textContent: text });
  const input = element(tag, { ...attributes, id, autocomplete: "off", spellcheck: false });
  line.append(label, input);
  return line;
}

function folded(title, lines) {
  const details = element("details", {});
  details.append(element("summary", { textContent: title }), ...lines);
  return details;
}

function element(tag, attributes) {
  return Object.assign(document.createElement(tag), attributes);
}
