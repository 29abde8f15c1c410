// A button at every block of code, which copies its text.

const BACK_AFTER_MS = 1600;

export function copyButtons(within = document) {
  for (const block of within.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn copy";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => copy(button, block.querySelector("pre")));
    block.querySelector(".bar").append(button);
  }
}

async function copy(button, code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Without a secure address there is no clipboard: the text is selected for the keyboard.
    getSelection().selectAllChildren(code);
    button.textContent = "Press Ctrl C";
  }
  setTimeout(() => (button.textContent = "Copy"), BACK_AFTER_MS);
}
