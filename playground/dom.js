/** The element of that id. */
export const $ = (id) => document.getElementById(id);

/** A new element: what it has as a property is set as one, everything else as an attribute. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Names and values for a `dl`; what an object holds is named after both, and so are objects in a list. */
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

/** A place for an error beside what it is about. */
export const problemLine = () => h("div", { className: "error", role: "alert", hidden: true });

/** Shows an error in its place, with the server's own words (`detail`) and the request's id where it has them; null hides it. */
export function showError(error, place = $("error")) {
  place.hidden = error === null;
  const { message = "", detail, requestId } = error ?? {};
  place.replaceChildren(h("strong", {}, message));
  if (detail) place.append(h("p", {}, `${detail.replace(/^[a-z](?=\w* )/, (c) => c.toUpperCase())}.`));
  if (requestId) place.append(h("p", {}, "Request id: ", h("code", {}, requestId)));
}

/** Puts a text into the clipboard, and says on the button what became of it. */
export async function copyText(button, text, done = "Copied") {
  button.dataset.label ??= button.textContent;
  // Pages have no clipboard but over HTTPS or on their own machine.
  const isDone = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isDone ? done : "Copy it by hand";
  setTimeout(() => {
    button.textContent = button.dataset.label;
  }, 2_000);
}
