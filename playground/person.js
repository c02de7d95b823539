// A voice in a grid: its portrait, name, description and buttons.
import { aboutVoice, cautionsIn, otherNames } from "./about-voice.js";
import { h } from "./dom.js";
import { drawFace } from "./face.js";

/**
 * Draws a voice: a button that chooses it, whose value is its id, one that plays it, and for a custom voice one that
 * deletes it. `onPress` and `onPlay` receive the first button, `onRemove` the voice.
 */
export function drawPerson(voice, { onPress, onPlay, onRemove }) {
  const lines = [aboutVoice(voice), cautionsIn(voice)].filter((line) => line !== "");
  // Names may be written from right to left.
  const name = h("strong", { dir: "auto" }, voice.name);
  const told = lines.map((line) => h("span", { className: "hint", dir: "auto" }, line));
  const props = {
    type: "button",
    className: "person",
    value: voice.id,
    title: [voice.description, otherNames(voice)].filter(Boolean).join(" "),
  };
  const person = h("button", props, h("span", { className: "about" }, name, ...told));
  if (voice.id !== "") person.prepend(drawFace(voice).svg);
  person.onclick = () => onPress(person);
  const card = h("span", { className: "voice" }, person);
  const button = (className, title, words, onclick) =>
    h("button", { type: "button", className, value: voice.id, title, "aria-label": title, onclick }, words);
  if (voice.id !== "") card.append(button("play", `Play ${voice.name}`, "▶", () => onPlay(person)));
  if (voice.owner === "key")
    card.append(button("remove", `Delete ${voice.name}`, "×", () => onRemove(voice)));
  return card;
}

/** Lets arrow keys move between the buttons of a row. Returns a function that makes one of them the row's only tab stop. */
export function leadByArrows(row) {
  const stopAt = (button) => {
    for (const each of row.querySelectorAll("button")) each.tabIndex = each === button ? 0 : -1;
  };
  // Tab returns to the last button.
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
