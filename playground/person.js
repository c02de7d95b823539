// One of a row of people: who it is, and of one's own how it is deleted.
import { aboutVoice, cautionsIn, otherNames } from "./about-voice.js";
import { h } from "./dom.js";

/** Draws a voice as a button, whose value is its id. `onPress` is given that button; `onRemove` the voice. */
export function drawPerson(voice, { onPress, onRemove }) {
  const lines = [aboutVoice(voice), otherNames(voice), cautionsIn(voice)].filter((line) => line !== "");
  // Names may be written from right to left.
  const name = h("strong", { dir: "auto" }, voice.name);
  const told = lines.map((line) => h("span", { className: "hint", dir: "auto" }, line));
  const person = h("button", { type: "button", className: "person", value: voice.id }, name, ...told);
  person.onclick = () => onPress(person);
  if (voice.owner !== "key") return person;
  const title = `Delete the voice ${voice.name}`;
  const remove = h("button", { type: "button", className: "remove", title, "aria-label": title }, "×");
  remove.onclick = () => onRemove(voice);
  return h("span", { className: "own" }, person, remove);
}

/** Has arrow keys lead from button to button of a row. Gives what makes one of them the row's only stop for the Tab key. */
export function leadByArrows(row) {
  const stopAt = (button) => {
    for (const each of row.querySelectorAll("button")) each.tabIndex = each === button ? 0 : -1;
  };
  // Where the arrows led last, Tab comes back to.
  row.addEventListener("focusin", ({ target }) => stopAt(target));
  row.onkeydown = (event) => {
    const stops = [...row.querySelectorAll("button")].filter((each) => each.checkVisibility());
    const at = stops.indexOf(document.activeElement);
    const ways = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: stops.length - 1 };
    if (!Object.hasOwn(ways, event.key)) return;
    event.preventDefault();
    stops[ways[event.key]]?.focus();
  };
  return stopAt;
}
