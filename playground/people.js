// A grid of voices. Pressing one chooses and plays it; a second one can be mixed in.
import { cautionsOf, closeness } from "./about-voice.js";
import { h, problemLine, showError } from "./dom.js";
import { openMix } from "./mix.js";
import { drawPerson, leadByArrows } from "./person.js";
import { hearVoice, hush } from "./preview.js";
import { fail, hasKey, hasSecret } from "./server.js";

const NO_KEY = "Connect an API key to hear the voices.";
const EMPTY = "Connect an API key to see the voices.";
/** OpenAI's name for the default voice. */
const USUAL = "alloy";

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });
const languageOf = ({ language }) => language?.split("-")[0];

/** Returns a heading where another language begins; none before voices of English alone. */
function headingOf(voice, before) {
  const language = languageOf(voice);
  if (!language || language === (before === undefined ? "en" : (languageOf(before) ?? "en"))) return [];
  return [h("span", { className: "language" }, LANGUAGES.of(language))];
}

/**
 * Draws a grid into an element.
 *
 * @param label the purpose of the voice
 * @param automatic name and description of an extra choice, which leaves the voice to the server; optional
 * @param onChoose called when `word()` may have changed
 * @param mayHear called before a sample plays, to silence others; returns whether it may play
 */
export function openPeople(root, { label, automatic, onChoose, mayHear }) {
  let known = [];
  let model = "";
  let first = "";
  const empty = h("p", { className: "hint" }, EMPTY);
  const row = h("div", { className: "people", role: "toolbar" }, empty);
  row.setAttribute("aria-label", `${label}: arrow keys move between voices, Enter chooses and plays`);
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

  /** Clears the messages about an earlier choice. */
  function settle() {
    showError(null, problem);
    note.textContent = "";
  }

  /** Reports a new choice and plays it. */
  function changed(person) {
    settle();
    draw();
    onChoose();
    void hear(person, word());
  }

  async function hear(person, voice) {
    if (voice === "" || !(hasKey() || hasSecret()) || !mayHear()) return hush();
    // Marks this playback: the voice may be pressed again meanwhile.
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

  /** Plays one voice without choosing it. */
  function play(person) {
    settle();
    if (person.dataset.sounds) return hush();
    if (!(hasKey() || hasSecret())) note.textContent = NO_KEY;
    void hear(person, person.value);
  }

  /** Shows why the server cannot speak with the voice. */
  const refuse = (error) => fail(error, problem, "The server cannot speak with this voice.");

  async function remove(voice) {
    try {
      const { askToDelete } = await import("./delete-voice.js");
      askToDelete(voice, () => personOf(first)?.focus());
    } catch (error) {
      showError(error, problem);
    }
  }

  /** Offers voices and keeps the choice if it is among them. @param id the model's, empty for the default one */
  function offer(voices, id) {
    const before = word();
    const held = row.contains(document.activeElement) ? document.activeElement.value : null;
    [known, model] = [voices, id];
    const usual = known.find(({ aliases }) => aliases.includes(USUAL)) ?? known[0];
    if (!known.some((voice) => voice.id === first)) first = automatic ? "" : (usual?.id ?? "");
    const all = automatic ? [{ id: "", aliases: [], ...automatic }, ...known] : known;
    const people = all.flatMap((voice, at) => [
      ...headingOf(voice, all[at - 1]),
      drawPerson(voice, { onPress: press, onPlay: play, onRemove: remove }),
    ]);
    row.replaceChildren(...(known.length === 0 ? [empty] : people));
    mix.offer(known, first);
    stopAt(personOf(first));
    draw();
    if (held !== null) personOf(held)?.focus();
    if (before !== "" && word() !== before) onChoose();
  }

  return { offer, word, settle, refuse, choose: (id) => personOf(id)?.click() };
}
