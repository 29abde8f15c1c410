// Search over titles, paths, fields and texts. "/" leads there, arrows go through what was found.

const SHOWN = 30;

export function search(box) {
  const input = box.querySelector("input");
  const found = box.querySelector(".found");
  const status = found.querySelector("p");
  const list = found.querySelector("ul");
  let entries = null;

  async function look() {
    entries ??= fetch("/docs/search.json").then((answer) => answer.json());
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    if (found.hidden) return;
    const hits = ranked(await entries, words);
    const rest = hits.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    status.textContent = hits.length ? `${hits.length} found${rest}` : "Nothing found";
    list.replaceChildren(...hits.slice(0, SHOWN).map(item));
  }

  function close() {
    found.hidden = true;
  }

  box.hidden = false;
  input.addEventListener("input", look);
  input.addEventListener("focus", look);
  box.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "Escape") {
      close();
      input.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = at + (event.key === "ArrowDown" ? 1 : -1);
      (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
      event.preventDefault();
    } else if (event.key === "Enter" && at < 0) {
      links[0]?.click();
    }
  });
  list.addEventListener("click", close);
  document.addEventListener("click", (event) => {
    if (!box.contains(event.target)) close();
  });
  box.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !box.contains(event.relatedTarget)) close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      input.focus();
      input.select();
      event.preventDefault();
    }
  });
}

// Every word must be there; titles that begin so come first, then titles, then paths, then texts.
function ranked(entries, words) {
  const hits = [];
  for (const [title, beside, url, text] of entries) {
    const name = title.toLowerCase();
    const more = `${name} ${beside.toLowerCase()}`;
    const layers = [name, more, `${more} ${text.toLowerCase()}`];
    const layer = layers.findIndex((all) => words.every((word) => all.includes(word)));
    if (layer < 0) continue;
    hits.push({ title, beside, url, rank: name.startsWith(words[0]) ? -1 : layer });
  }
  return hits.sort((one, other) => one.rank - other.rank);
}

function item({ title, beside, url }) {
  const link = document.createElement("a");
  const small = document.createElement("small");
  const line = document.createElement("li");
  link.href = url;
  small.textContent = beside;
  link.append(title, small);
  line.append(link);
  return line;
}
