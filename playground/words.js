// The words of the reply. Each lights up as it is spoken; pressing one plays from there.
import { $, h } from "./dom.js";

/** The words so far, in order: `{ start, end, element }`. */
let known = [];
/** The text in code points; empty while it is unknown. */
let text = [];
/** Code points shown as words, the last word with its punctuation, and the rest of the text. */
let shown = 0;
let unit = null;
let rest = document.createTextNode("");
/** The number of words that have begun, and the current one. */
let begun = 0;
let lit = null;

/** A longer word, such as an address, may be broken. */
const LONG = 20;

/** Begins with the text, or with none if it is still to be written. */
export function beginWords(given) {
  known = [];
  text = Array.from(given);
  [shown, begun, unit, lit] = [0, 0, null, null];
  rest = document.createTextNode(given);
  $("words").replaceChildren(rest);
}

/** Adds words as they come. */
export function addWords(words = []) {
  for (const { word, start, end, offset, length } of words) {
    const element = h("span", { className: length > LONG ? "word long" : "word", role: "button" });
    element.tabIndex = known.length === 0 ? 0 : -1;
    element.append(text.slice(offset, offset + length).join("") || word, h("small"));
    // In an unknown text, words are separated by spaces.
    const between = text.slice(shown, offset).join("") || (offset > shown ? " " : "");
    const [, closing, space, opening] = /^(\S*)(.*?)(\S*)$/s.exec(between);
    unit?.append(closing);
    unit = h("span", { className: "unit" }, ...(unit ? [] : [closing]), opening, element);
    rest.before(space, unit);
    known.push({ start, end, element });
    shown = offset + length;
  }
  rest.data = text.slice(shown).join("");
}

/** Keeps the punctuation after the last word with it. */
function closeLast() {
  const [closing] = /^\S*/.exec(rest.data);
  unit?.append(closing);
  rest.data = rest.data.slice(closing.length);
}

/** Takes the complete reply: its text, its words, and their phonemes if the server sends them. */
export function finishWords(said, words = [], phonemes = []) {
  if (said !== text.join("") || words.length !== known.length) {
    beginWords(said);
    addWords(words);
  }
  closeLast();
  let at = 0;
  known.forEach(({ end, element }, index) => {
    // A pause has no phonemes, so any point in it separates two words.
    const untilS = index < known.length - 1 ? (end + known[index + 1].start) / 2 : Infinity;
    const from = at;
    while (at < phonemes.length && (phonemes[at].start + phonemes[at].end) / 2 < untilS) at++;
    element.lastChild.textContent = phonemes
      .slice(from, at)
      .map(({ phoneme }) => phoneme)
      .join("");
  });
}

/** Highlights the word at that second. A pause belongs to the word before it, except the last pause. */
export function lightWord(seconds) {
  const count = known.findLastIndex(({ start }) => start <= seconds) + 1;
  for (let i = Math.min(count, begun); i < Math.max(count, begun); i++)
    known[i].element.classList.toggle("said", i < count);
  begun = count;
  const word = known[count - 1];
  const now = word && (count < known.length || seconds < word.end) ? word.element : null;
  if (now === lit) return;
  lit?.removeAttribute("aria-current");
  now?.setAttribute("aria-current", "true");
  lit = now;
}

/** Calls `play` with the start of a word that is clicked, or pressed with Enter or Space. */
export function pickWords(play) {
  const pick = ({ target }) => {
    const word = known.find(({ element }) => element.contains(target));
    if (word) play(word.start);
  };
  $("words").onclick = pick;
  $("words").onkeydown = (event) => {
    const at = known.findIndex(({ element }) => element === document.activeElement);
    const ways = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: known.length - 1 };
    const to = known[ways[event.key]]?.element;
    if (event.key === "Enter" || event.key === " ") pick(event);
    else if (!to) return;
    event.preventDefault();
    if (!to) return;
    // The words have one tab stop: the last one reached.
    known[at].element.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
}
