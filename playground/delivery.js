// Which model speaks, and how: what the server offers, and what is chosen of it.
import { conversation } from "./conversation.js";
import { $, h } from "./dom.js";
import { drawKnobs, markUnused, params } from "./knobs.js";
import { drawTurns } from "./turns.js";

let knobs = [];
let models = [];
let edited = () => {};
/** What is asked of model and knobs before the server has told which there are. */
let wanted = { params: {} };

/** Shows what the server offers, and keeps what was chosen. Gives what had been asked for in vain; `onEdit` is called after every change. */
export function offer({ param_schema: schema }, cards, onEdit) {
  const asked = structuredClone(chosen());
  [knobs, models, edited] = [schema, cards, onEdit];
  $("model").replaceChildren(...cards.map((card) => h("option", { value: card.id }, card.display_name)));
  $("model").disabled = $("reset").hidden = false;
  return choose(asked);
}

/** Chooses a model, or the default one, and knobs, as far as there are such. Gives what there is not, by name. */
export function choose(asked) {
  wanted = asked;
  if (models.length === 0) return [];
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
  markUnused(knobs, id);
  drawTurns(speakers);
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
  ...($("model").value === "" ? {} : { model: $("model").value }),
  ...(Object.keys(params).length === 0 ? {} : { params }),
});
