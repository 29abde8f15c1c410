// What the pages at /docs can do beyond being read.

import { copyButtons } from "./copy.js";
import { follow } from "./follow.js";
import { search } from "./search.js";
import { tryIt } from "./try.js";

search(document.querySelector("[data-search]"));
copyButtons();
follow(document.getElementById("nav"));
tryIt();
