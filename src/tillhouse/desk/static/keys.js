// The letters of /desk/keys. Never while somebody types, and not where they are switched off.
let waiting = false;
let hasTyped = false;
// What is typed while the palette loads: it belongs into its field. Null at other times.
let early = null;
const find = (selector) => document.querySelector(selector);
const types = (node) => node.closest?.("input, select, textarea, [contenteditable]");

async function show(address) {
  early ??= "";
  try {
    await (await import("./palette.js")).show(address);
    const field = find("dialog[open] input[type=search]");
    if (early && field) {
      field.value += early;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  } catch {
    location.assign(address);
  } finally {
    early = null;
  }
}

function step(by) {
  const links = [...document.querySelectorAll("main a.cover")];
  const at = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

const search = () => find("main input[type=search]");
const KEYS = {
  "/": () => (search() ? search().focus() : show("/desk/search")),
  j: () => step(1),
  k: () => step(-1),
  n: () => find('[data-go="n"]')?.click(),
  "?": () => show("/desk/keys"),
  Escape: () => hasTyped || find("main a.crumb")?.click(),
};

addEventListener("keydown", (event) => {
  const { key, target } = event;
  const isCommand = event.ctrlKey || event.metaKey || event.altKey;
  if (isCommand && !event.altKey && key.toLowerCase() === "k") {
    event.preventDefault();
    return show("/desk/search");
  }
  if (early !== null && !isCommand && key.length === 1) {
    event.preventDefault();
    early += key;
    return;
  }
  if (isCommand || document.body.dataset.keys === "off" || types(target)) return;
  if (early !== null || find(":is(dialog[open], :popover-open)")) return;
  const act = waiting ? () => find(`[data-go="${CSS.escape(key)}"]`)?.click() : KEYS[key];
  waiting = !waiting && key === "g";
  if (waiting) setTimeout(() => (waiting = false), 900);
  if (!act) return;
  event.preventDefault();
  act();
});

addEventListener("input", () => (hasTyped = true));
addEventListener("click", (event) => {
  const link = event.target.closest("a[data-palette]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link.pathname);
});
