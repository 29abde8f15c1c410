// Copy, announcements of the time left, live status. The page is whole without it.
const page = document.querySelector("[data-version]");
const said = document.querySelector("[data-said]");

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    const shown = document.getElementById(button.getAttribute("aria-controls"));
    if (shown) getSelection().selectAllChildren(shown);
    button.textContent = "Selected";
  }
  said.textContent = button.textContent;
  setTimeout(() => (button.textContent = before), 1600);
});

// The deadline is told by the server's clock, at ten, five and one minutes and at the end.
const until = page?.dataset.until;
if (until) {
  const end = performance.now() + Date.parse(until) - Date.parse(page.dataset.now);
  for (const minutes of [10, 5, 1, 0]) {
    const wait = end - minutes * 60000 - performance.now();
    if (wait < 0 || wait > 2 ** 31 - 1) continue;
    setTimeout(() => {
      if (!minutes) return location.reload();
      said.textContent = `${minutes} ${minutes === 1 ? "minute" : "minutes"} left to pay`;
    }, wait);
  }
}

// Another state: the server decides where the payer goes on.
const goOn = () => location.assign(page.dataset.next);

let timer;
const poll = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (document.hidden) return;
    const answer = await fetch(page.dataset.status).catch(() => null);
    if (answer?.ok && (await answer.json()).version !== page.dataset.version) return goOn();
    poll(Math.min(15000, wait * 1.5));
  }, wait);
};

if (page?.dataset.live) {
  let isPolling = false;
  const source = new EventSource(page.dataset.events);
  source.addEventListener("status", () => { source.close(); goOn(); });
  source.addEventListener("error", () => { source.close(); isPolling = true; poll(3000); });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && isPolling) poll(3000);
  });
}
