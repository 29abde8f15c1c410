// The navigation marks what is being read, and closes when something was chosen.

const MARGIN = 48;

export function follow(nav) {
  const links = new Map();
  for (const link of nav.querySelectorAll('a[href^="#"]')) {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (target) links.set(target, link);
  }
  nav.addEventListener("click", (event) => {
    if (event.target.closest("a") && nav.matches(":popover-open")) nav.hidePopover();
  });
  const here = nav.querySelector('[aria-current="page"]');
  reveal(nav, here);
  nav.addEventListener("toggle", () => reveal(nav, here));
  const options = { rootMargin: "-20% 0px -70%" };
  const observer = new IntersectionObserver(() => mark(nav, links), options);
  for (const target of links.keys()) observer.observe(target);
}

// The last target that begins above a fifth of the screen is the one that is read.
function mark(nav, links) {
  const line = innerHeight / 4;
  let read = null;
  for (const [target, link] of links) {
    if (target.getBoundingClientRect().top < line) read = link;
  }
  for (const link of links.values()) {
    if (link === read) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
  reveal(nav, read);
}

// scrollIntoView would move the page as well.
function reveal(nav, link) {
  if (!link) return;
  const [box, frame] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (box.top < frame.top) nav.scrollTop -= frame.top - box.top + MARGIN;
  else if (box.bottom > frame.bottom) nav.scrollTop += box.bottom - frame.bottom + MARGIN;
}
