// Keeps a page true: its stream names blocks that are true no more, and they are asked for again.
import { bring } from "./swap.js";

const line = document.querySelector("[data-live]");
const { zone: timeZone } = line.dataset;
const every = () => [...document.querySelectorAll("[data-block]")].map((one) => one.dataset.block);
let source, timer, waiting, since, pause = 1, isOld = false, isOver = false;

const say = (text) => line.textContent === text || (line.textContent = text);

function close() {
  clearTimeout(timer);
  clearTimeout(waiting);
  source?.close();
  source = null;
}

function over(reason) {
  close();
  isOld = true;
  say(line.dataset[reason]);
  if (reason === "full") timer = setTimeout(open, 60_000);
  else isOver = true;
}

function lost() {
  close();
  isOld = true;
  since ??= new Date().toLocaleTimeString("en-GB", { timeZone, timeStyle: "short" });
  say(line.dataset.lost.replace("{}", since));
  pause = Math.min(60, pause * 2);
  timer = setTimeout(open, pause * 1000 * (0.5 + Math.random() / 2));
}

// A block that shows something under way says after how many seconds it is asked for again.
function again() {
  clearTimeout(waiting);
  const block = document.querySelector("[data-again]");
  if (block && source) {
    const { again: seconds, block: name } = block.dataset;
    waiting = setTimeout(() => renew([name]), seconds * 1000);
  }
  return true;
}

async function renew(names) {
  const { ok, status } = await bring(names).catch(() => ({}));
  if (ok) return again();
  if (status === 401) over("signed_out");
  else if (status < 429) over("changed");
  else lost();
}

// A stream that is opened anew begins now: blocks are asked for once.
function open() {
  if (document.hidden || source || isOver) return;
  source = new EventSource(isOld ? line.dataset.live.replace(/&at=.*/, "") : line.dataset.live);
  source.addEventListener("block", ({ data }) => renew(data.split(" ")));
  source.addEventListener("over", ({ data }) => over(data));
  source.addEventListener("error", lost);
  source.addEventListener("open", async () => {
    if (isOld && !(await renew(every()))) return;
    if (!source) return;
    isOld = false;
    since = null;
    pause = 1;
    say("");
    again();
  });
}

addEventListener("visibilitychange", () => {
  if (!document.hidden) return open();
  close();
  isOld = true;
}, true);
open();
