// Which model speaks, and how: what the server offers, and what is chosen of it.
import { conversation, openTurn } from "./conversation.js";
import { $, h } from "./dom.js";
import { chooseModel, watchModel } from "./model.js";
import { openPeople } from "./people.js";
import { drawTurns } from "./turns.js";
import { voicesOf, watchVoices } from "./voices.js";

/** Knobs that are not at their default. */
const params = {};
let knobs = [];
let models = [];
let voices = [];
let people = null;
let edited = () => {};
/** What is asked of model and knobs before the server has told which there are. */
let wanted = { params: {} };

const OWN = {
  name: "Their own",
  description: "The speaker's usual voice; or the voice of its earlier turns, where these have sound.",
};

/** Wires the row of people. `onEdit` is called after every change of what is asked for, `quiet` before one of them is heard. */
export function openDelivery(onEdit, quiet) {
  edited = onEdit;
  const mayHear = () => {
    quiet();
    return true;
  };
  people = openPeople($("cast"), { label: "Voice of the last turn", nobody: OWN, onChoose: edited, mayHear });
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

/** Has the last turn spoken with a voice, by its id, and lets it be heard. */
export const chooseVoice = (id) => people.choose(id);

/** Shows what the server offers, and keeps what was chosen. Gives what had been asked for in vain. */
export function offer({ param_schema: schema }, cards) {
  const asked = structuredClone(chosen());
  [knobs, models] = [schema, cards];
  $("model").replaceChildren(...cards.map((card) => h("option", { value: card.id }, card.display_name)));
  $("model").disabled = $("reset").hidden = false;
  return choose(asked);
}

/** Chooses a model, or the default one, and knobs, as far as there are such. Gives what there is not, by name. */
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

/** Shows the model that was chosen. */
export function showModel() {
  const { id, description, speakers } = models.find((card) => card.id === $("model").value);
  $("model-description").textContent = description;
  chooseModel(id);
  drawCast();
  markUnused(knobs, id);
  drawTurns(speakers);
}

/** Shows whose voice the last turn may have with the model that was chosen. */
function drawCast() {
  const model = $("model").value;
  people.offer(voicesOf(voices, model), model);
}

export function resetKnobs() {
  drawKnobs(knobs, edited);
  markUnused(knobs, $("model").value);
}

/** What is chosen, or asked for: a model unless it is the default, and knobs that are not at theirs. */
export function chosen() {
  const card = models.find(({ id }) => id === $("model").value);
  return card ? { model: card.default ? null : card.id, params } : wanted;
}

/** What a request asks for; `soundOf` gives what stands for a clip. */
export const bodyNow = (soundOf) => ({
  conversation: conversation(soundOf),
  ...(people.word() === "" ? {} : { voices: { [openTurn().speaker]: people.word() } }),
  ...($("model").value === "" ? {} : { model: $("model").value }),
  ...(Object.keys(params).length === 0 ? {} : { params }),
});

/**
 * Draws knobs as `param_schema` of `/v1/info` describes them, at their defaults but for what `wanted` asks. Gives the names
 * of what was asked for in vain: nobody knows it, or it is out of range.
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

/** Says under each knob whether it does nothing with that model, and why, as the server tells. */
function markUnused(schema, model) {
  for (const { name, unused_by: unused = {} } of schema) {
    const why = Object.hasOwn(unused, model) ? unused[model] : "";
    const note = why ? [h("strong", {}, "Does nothing with this model. "), why] : [];
    $(`knob-${name}-unused`).replaceChildren(...note);
  }
}

/** The value that is meant, by a text or itself; undefined where the knob does not take it. */
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
  input.setAttribute("aria-describedby", `${id}-help ${id}-unused`);
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
  const unused = h("p", { className: "hint unused", id: `${id}-unused` });
  return h("div", { className: "knob" }, h("label", { htmlFor: id }, label), shown, input, help, unused);
}
