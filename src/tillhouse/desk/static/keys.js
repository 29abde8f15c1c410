// "g o" goes to the page whose entry has data-go="o". Never while somebody types.
let waiting = false;
const types = (node) => node.closest("input, select, textarea, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || types(event.target)) return;
  if (waiting) {
    waiting = false;
    const entry = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (entry) location.href = entry.href;
  } else if (event.key === "g") {
    waiting = true;
    setTimeout(() => (waiting = false), 900);
  }
});
