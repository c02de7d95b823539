// The model, the voice and the parameters: what the server offers and what the user chose.
import { conversation, openTurn } from "./conversation.js";
import { $, h } from "./dom.js";
import { chooseModel, watchModel } from "./model.js";
import { openPeople } from "./people.js";
import { drawTurns } from "./turns.js";
import { voicesOf, watchVoices } from "./voices.js";

/** Parameters that are not at their default. */
const params = {};
let knobs = [];
let models = [];
let voices = [];
let people = null;
let edited = () => {};
/** The wanted model and parameters before the server has listed them. */
let wanted = { params: {} };

const OWN = {
  name: "Automatic",
  description: "The voice of the speaker's earlier recordings, or else the speaker's usual voice.",
};

/** Wires the grid of voices. `onEdit` is called after every change, `quiet` before a sample plays. */
export function openDelivery(onEdit, quiet) {
  edited = onEdit;
  const mayHear = () => {
    quiet();
    return true;
  };
  people = openPeople($("cast"), {
    label: "Voice of the last turn",
    automatic: OWN,
    onChoose: edited,
    mayHear,
  });
  watchVoices((list) => {
    voices = list;
    drawCast();
  });
  watchModel((id) => {
    wanted = { ...wanted, model: id };
    if (!models.some((card) => card.id === id) || $("model").value === id) return;
    $("model").value = id;
    showModel();
  });
}

/** Chooses the voice of the last turn by its id, and plays it. */
export const chooseVoice = (id) => people.choose(id);

/** Shows what the server offers and keeps the choices. Returns the names of choices that it does not offer. */
export function offer({ param_schema: schema }, cards) {
  const asked = structuredClone(chosen());
  [knobs, models] = [schema, cards];
  $("model").replaceChildren(...cards.map((card) => h("option", { value: card.id }, card.display_name)));
  $("model").disabled = $("reset").hidden = false;
  return choose(asked);
}

/** Chooses a model (default: the server's) and parameters. Returns the names of those that do not exist. */
export function choose(asked) {
  wanted = asked;
  if (models.length === 0) {
    chooseModel(asked.model ?? "");
    return [];
  }
  const model = models.find(({ id }) => id === asked.model) ?? models.find((card) => card.default);
  const vain = drawKnobs(knobs, edited, asked.params);
  if (asked.model && asked.model !== model.id) vain.unshift(`model ${asked.model}`);
  $("model").value = model.id;
  showModel();
  return vain;
}

/** Shows the chosen model. */
export function showModel() {
  const { id, description, speakers } = models.find((card) => card.id === $("model").value);
  $("model-description").textContent = description;
  chooseModel(id);
  drawCast();
  hideUnused(knobs, id);
  drawTurns(speakers);
}

/** Shows the voices of the chosen model. */
function drawCast() {
  const model = $("model").value;
  people.offer(voicesOf(voices, model), model);
}

export function resetKnobs() {
  drawKnobs(knobs, edited);
  hideUnused(knobs, $("model").value);
}

/** Returns the choices: the model (null for the default) and parameters that are not at their default. */
export function chosen() {
  const card = models.find(({ id }) => id === $("model").value);
  return card ? { model: card.default ? null : card.id, params } : wanted;
}

/** The voice of the last turn: its portrait's `{ id, sex }`. */
export const speakingVoice = () => {
  const { speaker } = openTurn();
  const id = people.word() || speaker;
  return voices.find((voice) => voice.id === id || voice.aliases.includes(id)) ?? { id };
};

/** Returns the request. `soundOf` returns the value for a clip. */
export const bodyNow = (soundOf) => ({
  conversation: conversation(soundOf),
  ...(people.word() === "" ? {} : { voices: { [openTurn().speaker]: people.word() } }),
  ...($("model").value === "" ? {} : { model: $("model").value }),
  ...(Object.keys(params).length === 0 ? {} : { params }),
});

/**
 * Draws the parameters of `/v1/info`'s `param_schema` with the values of `wanted` or their defaults. Returns the names of
 * wanted parameters that are unknown or out of range.
 */
function drawKnobs(schema, onEdit, wanted = {}) {
  for (const name of Object.keys(params)) delete params[name];
  const asked = new Map(Object.entries(wanted));
  const drawn = schema.map((knob) => {
    const value = read(knob, asked.get(knob.name));
    if (value !== undefined) asked.delete(knob.name);
    return drawKnob(knob, value ?? knob.default, onEdit);
  });
  $("knobs").replaceChildren(...drawn);
  onEdit();
  return [...asked.keys()];
}

/** Hides the parameters that do nothing with the model. */
function hideUnused(schema, model) {
  for (const { name, unused_by: unused = {} } of schema)
    $(`knob-${name}`).parentElement.hidden = Object.hasOwn(unused, model);
}

/** Returns the value of a text or number; undefined if the parameter does not accept it. */
function read({ type, choices, minimum = -Infinity, maximum = Infinity }, meant) {
  if (type === "choice") return choices.includes(meant) ? meant : undefined;
  if (meant === undefined || `${meant}`.trim() === "") return undefined;
  const value = Number(meant);
  if (type === "integer" && !Number.isInteger(value)) return undefined;
  return minimum <= value && value <= maximum ? value : undefined;
}

function drawKnob(knob, value, onEdit) {
  const { name, label, choices, nullable, minimum, maximum, step, description } = knob;
  const id = `knob-${name}`;
  const isSlider = !choices && !nullable;
  const shown = h("output", { for: id, hidden: !isSlider });
  const input = choices
    ? h("select", { id }, ...choices.map((choice) => h("option", { value: choice }, choice)))
    : h("input", { id, type: isSlider ? "range" : "number", placeholder: "not set" });
  if (!choices) Object.assign(input, { min: minimum ?? "", max: maximum ?? "", step });
  input.value = value ?? "";
  input.setAttribute("aria-describedby", `${id}-help`);
  const set = (to) => {
    if (to === knob.default) delete params[name];
    else params[name] = to;
    shown.textContent = `${to}`;
  };
  set(value);
  input.oninput = () => {
    set(read(knob, input.value) ?? knob.default);
    onEdit();
  };
  const help = h("p", { className: "hint", id: `${id}-help` }, description.replaceAll("`", ""));
  return h("div", { className: "knob" }, h("label", { htmlFor: id }, label), shown, input, help);
}
