// What the reply says, word by word: each lights up as it is heard, and plays from there when it is pressed.
import { $, h } from "./dom.js";

/** The words that are there by now, in order: `{ start, end, element }`. */
let known = [];
/** The text in code points, as words count their places; empty while nobody knows it. */
let text = [];
/** How much of it is on the page as words, the last of them with its marks, and the rest behind it. */
let shown = 0;
let unit = null;
let rest = document.createTextNode("");
/** How many words have begun, and the one that is heard. */
let begun = 0;
let lit = null;

/** A word of more characters, such as an address, may be broken. */
const LONG = 20;

/** Begins with a text that is about to be spoken, or with none where it is yet to be written. */
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
    // Of a text that is not known yet, what stands between two words is a space.
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

/** Words keep their marks beside them: those before the first space behind the last word. */
function closeLast() {
  const [closing] = /^\S*/.exec(rest.data);
  unit?.append(closing);
  rest.data = rest.data.slice(closing.length);
}

/** The reply is whole: its text, all of its words, and the sounds of them where the server tells. */
export function finishWords(said, words = [], phonemes = []) {
  if (said !== text.join("") || words.length !== known.length) {
    beginWords(said);
    addWords(words);
  }
  closeLast();
  let at = 0;
  known.forEach(({ end, element }, index) => {
    // A pause has no sounds, so it may be cut anywhere.
    const untilS = index < known.length - 1 ? (end + known[index + 1].start) / 2 : Infinity;
    const from = at;
    while (at < phonemes.length && (phonemes[at].start + phonemes[at].end) / 2 < untilS) at++;
    element.lastChild.textContent = phonemes
      .slice(from, at)
      .map(({ phoneme }) => phoneme)
      .join("");
  });
}

/** Lights the word that is heard at that second. Pauses belong to the word before them, but for the last. */
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

/** Has `play` called with the second at which a word begins that was clicked, or pressed with Enter or Space. */
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
    // One stop for the Tab key: where the arrows led last.
    known[at].element.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
}
