// Fits the viewer to this reader: screen, colours, and the address that the page came from.

const LIGHT = {
  theme: "light",
  "bg-color": "#ffffff",
  "text-color": "#1f2933",
  "primary-color": "#0b6e4f",
  "nav-bg-color": "#f4f6f5",
  "nav-text-color": "#33413c",
  "nav-hover-bg-color": "#e2e9e6",
  "nav-accent-color": "#0b6e4f",
};

const DARK = {
  theme: "dark",
  "bg-color": "#14181b",
  "text-color": "#dde3e6",
  "primary-color": "#4cc38a",
  "nav-bg-color": "#1a1f23",
  "nav-text-color": "#c4cdd2",
  "nav-hover-bg-color": "#262d32",
  "nav-accent-color": "#4cc38a",
};

const viewer = document.getElementById("reference");
const dark = matchMedia("(prefers-color-scheme: dark)");
const wide = matchMedia("(min-width: 768px)");

function colour() {
  for (const [name, value] of Object.entries(dark.matches ? DARK : LIGHT)) {
    viewer.setAttribute(name, value);
  }
}

// A narrow screen has no room for the list beside the text: there the list unfolds in place.
function arrange() {
  viewer.setAttribute("render-style", wide.matches ? "focused" : "view");
}

// "Try" goes to where this page came from, whatever name the document knows the server by.
viewer.setAttribute("server-url", location.origin);
viewer.setAttribute("default-api-server", location.origin);
colour();
arrange();
dark.addEventListener("change", colour);
wide.addEventListener("change", arrange);
