// <button data-copy="text">: copies, says so in the button and in the live region.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.querySelector("span") ?? button;
  const before = label.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.textContent = "Copied";
  } catch {
    // Not on plain HTTP, but on this machine: the text is selected instead.
    const shown = document.getElementById(button.getAttribute("aria-controls"));
    if (shown) getSelection().selectAllChildren(shown);
    label.textContent = "Press Ctrl C";
  }
  const live = document.querySelector("[data-said]");
  if (live) live.textContent = label.textContent;
  setTimeout(() => (label.textContent = before), 1600);
});
