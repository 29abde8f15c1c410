// Shows a page as a dialog, by its main block. The palette searches while somebody types.
import { ask } from "./swap.js";

const BLOCK = { "/desk/search": "palette", "/desk/keys": "keys" };
let asked = 0;

function step(dialog, by) {
  const stops = [...dialog.querySelectorAll("input, li a")];
  const at = stops.indexOf(document.activeElement) + by;
  stops[Math.max(0, Math.min(stops.length - 1, at))]?.focus();
}

async function search(dialog, words) {
  const mine = (asked += 1);
  await new Promise((done) => setTimeout(done, 150));
  if (mine !== asked) return;
  const { blocks } = await ask(`/desk/search?q=${encodeURIComponent(words)}`, ["found"]);
  if (mine === asked) dialog.querySelector("[data-block=found]")?.replaceWith(...blocks);
}

export async function show(address) {
  if (document.querySelector("dialog[open]")) return;
  const there = document.querySelector(`main [data-block=${BLOCK[address]}] input`);
  if (there) return there.focus();
  const { blocks } = await ask(address, [BLOCK[address]]);
  if (!blocks.length) return location.assign(address);
  const dialog = document.createElement("dialog");
  dialog.className = "wide";
  dialog.ariaLabel = blocks[0].ariaLabel;
  dialog.append(blocks[0]);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("input", ({ target }) => search(dialog, target.value).catch(() => {}));
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || address !== "/desk/search") return;
    event.preventDefault();
    step(dialog, by);
  });
  dialog.showModal();
}
