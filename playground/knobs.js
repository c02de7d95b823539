import { $, h } from "./dom.js";

/** Knobs that are not at their default. */
export const params = {};

/** Draws knobs as `param_schema` of `/v1/info` describes them, all at their defaults. */
export function drawKnobs(schema, onEdit) {
  for (const name of Object.keys(params)) delete params[name];
  $("knobs").replaceChildren(...schema.map((knob) => drawKnob(knob, onEdit)));
  onEdit();
}

function drawKnob(knob, onEdit) {
  const { name, label, type, choices, nullable, minimum, maximum, step, description } = knob;
  const id = `knob-${name}`;
  const isSlider = !choices && !nullable;
  const shown = h("output", { for: id, hidden: !isSlider }, `${knob.default}`);
  const input = choices
    ? h("select", { id }, ...choices.map((choice) => h("option", { value: choice }, choice)))
    : h("input", { id, type: isSlider ? "range" : "number", placeholder: "not set" });
  if (!choices) Object.assign(input, { min: minimum ?? "", max: maximum ?? "", step });
  input.value = knob.default ?? "";
  input.setAttribute("aria-describedby", `${id}-help`);
  input.oninput = () => {
    const value = type === "choice" ? input.value : input.value === "" ? null : Number(input.value);
    if (value === knob.default) delete params[name];
    else params[name] = value;
    shown.textContent = `${value}`;
    onEdit();
  };
  const help = h("p", { className: "hint", id: `${id}-help` }, description.replaceAll("`", ""));
  return h("div", { className: "knob" }, h("label", { htmlFor: id }, label), shown, input, help);
}
