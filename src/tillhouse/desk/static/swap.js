// Brings single blocks of a page, each of them once it is free.
const { shown } = document.body.dataset;
const holder = (name) => document.querySelector(`[data-block=${name}]`);
const later = new Set();
let asking = Promise.resolve();

export async function ask(url, names) {
  const headers = { "Tillhouse-Block": names.join(" "), "Tillhouse-Shown": shown };
  const answer = await fetch(url, { headers });
  const isPart = answer.ok && answer.headers.has("Tillhouse-Block");
  const page = new DOMParser().parseFromString(isPart ? await answer.text() : "", "text/html");
  return { answer, isPart, blocks: [...page.querySelectorAll("[data-block]")] };
}

// A block in which somebody types, presses or has something open stays until it is free.
const isHeld = (block) => block?.matches("[data-typed], :active, :has(form :focus)") ||
  block?.querySelector(":is(:popover-open, dialog[open])");

export function put(fresh) {
  const { block } = fresh.dataset;
  const old = holder(block);
  const at = old?.querySelector(":focus");
  const same = at && [...fresh.querySelectorAll(at.localName)].find(
    (one) => one.id === at.id && one.href === at.href && one.textContent === at.textContent);
  if (isHeld(old) || (at && !same)) return later.add(block);
  const open = [...(old?.querySelectorAll("details") ?? [])].map((one) => one.open);
  fresh.querySelectorAll("details").forEach((one, index) => (one.open = open[index]));
  old?.replaceWith(fresh);
  same?.focus({ preventScroll: true });
}

// One request after the other: an older answer never follows a newer one.
export const bring = (names, url) => (asking = asking.catch(() => 0).then(async () => {
  const free = names.filter((name) => !isHeld(holder(name)) || !later.add(name));
  if (!free.length) return { ok: true };
  const { answer, isPart, blocks } = await ask(url ?? location.href, free);
  blocks.forEach(put);
  return { ok: isPart, status: answer.status };
}));

for (const type of ["focusout", "toggle", "close", "click", "reset"])
  addEventListener(type, () => later.size && setTimeout(() => {
    const names = [...later];
    later.clear();
    bring(names).catch(() => names.forEach((name) => later.add(name)));
  }), true);
addEventListener("input", ({ target }) => {
  target.closest("[data-block]")?.setAttribute("data-typed", "");
});
