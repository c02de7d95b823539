// A row of people: whoever is pressed is chosen, and heard. A second one can be mixed in.
import { cautionsOf, closeness } from "./about-voice.js";
import { h, problemLine, showError } from "./dom.js";
import { openMix } from "./mix.js";
import { drawPerson, leadByArrows } from "./person.js";
import { hearVoice, hush } from "./preview.js";
import { fail, hasKey } from "./server.js";

const EMPTY = "The voices are listed once a key is connected.";
const NO_KEY = "Chosen. To hear a voice alone, connect an API key.";
/** OpenAI's name for the voice of whoever asks for none. */
const USUAL = "alloy";

/**
 * Draws a row into an element.
 *
 * @param label what the voice is chosen for
 * @param nobody `{ name, description }` of a choice that names no voice; without it there is none
 * @param onChoose called when `word()` may give something else than before
 * @param mayHear called when somebody is about to be heard, to silence others; says whether that is wanted
 */
export function openPeople(root, { label, nobody, onChoose, mayHear }) {
  let known = [];
  let model = "";
  let first = "";
  const empty = h("p", { className: "hint" }, EMPTY);
  const row = h("div", { className: "people", role: "toolbar" }, empty);
  row.setAttribute("aria-label", `${label}: arrow keys go from one to the next, Enter chooses and plays`);
  const stopAt = leadByArrows(row);
  const note = h("p", { className: "hint", role: "status" });
  const problem = problemLine();
  const about = h("p", { className: "hint" });
  const mix = openMix(root.id, () => changed(personOf(first)));
  root.append(row, note, problem, about, mix.element);

  const { word } = mix;
  const personOf = (id) => [...row.querySelectorAll(".person")].find(({ value }) => value === id);

  function draw() {
    const mixedIn = mix.second();
    for (const person of row.querySelectorAll(".person")) {
      person.setAttribute("aria-pressed", person.value === first);
      person.classList.toggle("mixed", person.value !== "" && person.value === mixedIn);
    }
    const voice = known.find(({ id }) => id === word());
    const told = voice?.trust === undefined ? [] : [closeness(voice.trust), ...cautionsOf(voice)];
    about.textContent = told.join(" ");
  }

  /** What was said of an earlier choice is over. */
  function settle() {
    showError(null, problem);
    note.textContent = "";
  }

  /** Something else was chosen: whoever uses the row is told, and it is heard. */
  function changed(person) {
    settle();
    draw();
    onChoose();
    void hear(person);
  }

  async function hear(person) {
    const voice = word();
    if (!mayHear() || voice === "") return hush();
    if (!hasKey()) {
      note.textContent = NO_KEY;
      return;
    }
    // Pressed again meanwhile, it sounds for a newer reason.
    const mine = `${performance.now()}`;
    person.dataset.sounds = mine;
    try {
      await hearVoice(voice, model);
    } catch (error) {
      if (error.status === 400) refuse(error);
      else fail(error, problem);
    }
    if (person.dataset.sounds === mine) delete person.dataset.sounds;
  }

  function press(person) {
    if (person.value === first && person.dataset.sounds) return hush();
    first = person.value;
    person.scrollIntoView({ block: "nearest", inline: "nearest" });
    mix.offer(known, first);
    changed(person);
  }

  /** Shows why the server does not speak so. */
  const refuse = (error) => fail(error, problem, "The server cannot speak with this voice.");

  async function remove(voice) {
    try {
      const { askToDelete } = await import("./delete-voice.js");
      askToDelete(voice, () => personOf(first)?.focus());
    } catch (error) {
      showError(error, problem);
    }
  }

  /** Offers voices, and keeps what was chosen where it is still there. @param id the model's, empty for the default one */
  function offer(voices, id) {
    const before = word();
    const held = row.contains(document.activeElement) ? document.activeElement.value : null;
    [known, model] = [voices, id];
    const usual = known.find(({ aliases }) => aliases.includes(USUAL)) ?? known[0];
    if (!known.some((voice) => voice.id === first)) first = nobody ? "" : (usual?.id ?? "");
    const all = nobody ? [{ id: "", aliases: [], ...nobody }, ...known] : known;
    const people = all.map((voice) => drawPerson(voice, { onPress: press, onRemove: remove }));
    row.replaceChildren(...(known.length === 0 ? [empty] : people));
    mix.offer(known, first);
    stopAt(personOf(first));
    draw();
    if (held !== null) personOf(held)?.focus();
    if (before !== "" && word() !== before) onChoose();
  }

  return { offer, word, settle, refuse, choose: (id) => personOf(id)?.click() };
}
