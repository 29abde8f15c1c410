// The letters of /desk/keys. Never while somebody types, and not where they are switched off.
let waiting = false;
let hasTyped = false;
const find = (selector) => document.querySelector(selector);
const types = (node) => node.closest?.("input, select, textarea, [contenteditable]");

async function show(address) {
  try {
    await (await import("./palette.js")).show(address);
  } catch {
    location.assign(address);
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
  if (isCommand || document.body.dataset.keys === "off" || types(target)) return;
  if (find(":is(dialog[open], :popover-open)")) return;
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
