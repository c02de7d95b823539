/** The element of that id. */
export const $ = (id) => document.getElementById(id);

/** Creates an element. Names that are properties of it are set as such, others as attributes. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Returns names and values for a `dl`. Fields of nested objects are named `owner.field`. */
export const rows = (pairs, owner = "") =>
  Object.entries(pairs).flatMap(([name, value]) =>
    isObject(value) || (Array.isArray(value) && value.some(isObject))
      ? rows(value, `${owner}${name}.`)
      : h("div", {}, h("dt", {}, owner + name), h("dd", {}, shown(value))),
  );

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function shown(value) {
  const text = Array.isArray(value) ? value.join(", ") : `${value ?? ""}`;
  return text === "" ? "none" : text;
}

/** Returns an element for an error next to its cause. */
export const problemLine = () => h("div", { className: "error", role: "alert", hidden: true });

/** Shows an error in `place` with the server's words (`detail`) and the request's id, if any; null hides it. */
export function showError(error, place = $("error")) {
  place.hidden = error === null;
  const { message = "", detail, requestId } = error ?? {};
  place.replaceChildren(h("strong", {}, message));
  if (detail) place.append(h("p", {}, `${detail.replace(/^[a-z](?=\w* )/, (c) => c.toUpperCase())}.`));
  if (requestId) place.append(h("p", {}, "Request id: ", h("code", {}, requestId)));
}

/** Saves a file. */
export function saveFile(file, name) {
  const href = URL.createObjectURL(file);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Copies a text and reports the result on the button. */
export async function copyText(button, text, done = "Copied") {
  button.dataset.label ??= button.textContent;
  // Browsers offer the clipboard only over HTTPS or on localhost.
  const isDone = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isDone ? done : "Select and copy it";
  setTimeout(() => {
    button.textContent = button.dataset.label;
  }, 2_000);
}
