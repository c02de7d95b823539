// The panel of programs that make the same request as the page.
import { bodyNow } from "./delivery.js";
import { $, h } from "./dom.js";

/** The module that writes them, loaded when the panel opens. */
let code = null;

export async function openCode() {
  if (!$("code").open || code !== null) return;
  code = await import("./code.js");
  const choice = (value, index) =>
    h("input", { type: "radio", name: "kind", value, checked: index === 0, onchange: showCode });
  const labels = Object.keys(code.KINDS).map((kind, index) => h("label", {}, choice(kind, index), kind));
  $("kinds").replaceChildren(h("legend", { className: "aloud" }, "Program"), ...labels);
  showCode();
}

/** Writes the program for the current request. Clips are named as files. */
export function showCode() {
  if (code === null) return;
  const { value } = document.querySelector("[name=kind]:checked");
  const body = bodyNow(({ name }, index) => name || `turn-${index + 1}.wav`);
  $("program").textContent = code.codeFor(value, location.origin, body);
}
