// The look of the page, and the labels and roles that RapiDoc lacks.

const LIGHT = {
  theme: "light",
  "bg-color": "#fffdfa",
  "text-color": "#221d18",
  "header-color": "#f6f2ec",
  "primary-color": "#10706c",
  "nav-bg-color": "#f6f2ec",
  "nav-text-color": "#5c544b",
  "nav-hover-bg-color": "#ebe4d9",
  "nav-hover-text-color": "#221d18",
  "nav-accent-color": "#b2451a",
};
const DARK = {
  theme: "dark",
  "bg-color": "#1d1b18",
  "text-color": "#f1ece5",
  "header-color": "#131210",
  "primary-color": "#5fcac3",
  "nav-bg-color": "#131210",
  "nav-text-color": "#b5aca1",
  "nav-hover-bg-color": "#2a2622",
  "nav-hover-text-color": "#f1ece5",
  "nav-accent-color": "#f59a70",
};
const extra = new CSSStyleSheet();
extra.replaceSync(`.red-text { color: light-dark(#a51d2d, #ff8a8f) !important; }
  .m-markdown a { color: light-dark(#10706c, #5fcac3) !important; }
  .m-markdown code .token { color: inherit !important; }
  @media (max-width: 768px) { .section-gap--read-mode, #api-info { padding-inline: 1rem !important; } }`);
const FIELDS = "input, select, textarea";
const api = document.querySelector("rapi-doc");
const dark = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  for (const [name, value] of Object.entries(dark.matches ? DARK : LIGHT)) api.setAttribute(name, value);
}

/** Labels the fields in a shadow tree, now and after every change of it. */
function watch(root) {
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, extra];
  new MutationObserver(() => label(root)).observe(root, { childList: true, subtree: true });
  label(root);
}

const watched = new WeakSet();

function label(root) {
  for (const field of root.querySelectorAll(FIELDS)) {
    if (field.labels.length === 0 && !field.ariaLabel) field.ariaLabel = nameOf(field);
  }
  root.querySelector("#api-title")?.setAttribute("role", "heading");
  root.querySelector("#api-title")?.setAttribute("aria-level", "1");
  root.querySelector("nav")?.setAttribute("aria-label", "Contents");
  // Keyboards scroll only what has the focus.
  for (const block of root.querySelectorAll("pre")) block.tabIndex = 0;
  for (const cell of root.querySelectorAll("th:empty")) cell.setAttribute("role", "none");
  for (const { shadowRoot } of root.querySelectorAll("*")) {
    if (shadowRoot === null || watched.has(shadowRoot)) continue;
    watched.add(shadowRoot);
    watch(shadowRoot);
  }
}

function nameOf(field) {
  const { pname, ptype } = field.dataset;
  if (pname || field.placeholder) return pname || field.placeholder;
  return field.localName === "textarea" ? `Request body, ${ptype}` : "Media type or example";
}

applyTheme();
dark.onchange = applyTheme;
customElements.whenDefined("rapi-doc").then(() => watch(api.shadowRoot));
