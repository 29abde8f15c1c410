// <time data-rel>: "4 min ago", kept true. <b data-age="iso">: minutes on the kitchen wall.
// The server's clock counts, not the device's: <html data-now="iso"> carries it.
const drift = Date.parse(document.documentElement.dataset.now ?? "") - Date.now() || 0;
const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { style: "short" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

export function relative(iso, now = Date.now() + drift) {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const [unit, size] = UNITS.find(([, s]) => Math.abs(seconds) >= s) ?? UNITS.at(-1);
  return words.format(Math.trunc(seconds / size), unit);
}

function tick() {
  if (!document.documentElement.dataset.now) return; // a prototype stands still
  for (const time of document.querySelectorAll("time[data-rel]")) {
    time.textContent = relative(time.dateTime);
  }
  for (const age of document.querySelectorAll("[data-age]")) {
    const minutes = Math.floor((Date.now() + drift - Date.parse(age.dataset.age)) / 60000);
    age.textContent = `${minutes} min`;
  }
}
tick();
setInterval(tick, 20_000);
