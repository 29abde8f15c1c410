// <form data-swap="block">: brings those blocks alone. The address is kept, and Back works.
import { bring } from "./swap.js";

const address = () => location.pathname + location.search;
let here = address();

addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.swap) return;
  event.preventDefault();
  const url = new URL(form.getAttribute("action"), location);
  url.search = new URLSearchParams(new FormData(form));
  const { ok } = await bring(form.dataset.swap.split(" "), url).catch(() => ({}));
  if (!ok) return location.assign(url);
  history.pushState(null, "", url);
  here = address();
});
addEventListener("popstate", () => address() === here || location.reload());
