// The turns on the page: who, what, and how it sounded.
import { MAX_TEXT_CHARS, MAX_TURNS, openTurn, turns } from "./conversation.js";
import { $, h, showError } from "./dom.js";

let labels = ["0", "1"];
let edited = () => {};
/** What turns with sound need: fetched with the first of them. */
let sound = null;
let ask = async () => "";
let makeVoice = () => {};

/**
 * Has the clips of turns without text heard by `hear`, which is told a clip and a signal and answers what is said; and
 * voices made by `make`, which is told a clip and what is said in it.
 */
export function useClipsBy(hear, make) {
  [ask, makeVoice] = [hear, make];
}

/** Lets clips be heard that could not be, with the next drawing. */
export const hearAgain = () => sound?.transcriber.retry();

/** Fills in what a reply understood (`meta.heard`) of the clips that it was asked with, by turn. */
export function suggest(clips, heard = []) {
  for (const { turn: index, text, problem } of heard) {
    const { turn, audio } = clips[index];
    // Words of a part alone would keep the rest from being heard.
    if (text !== null && problem === undefined && turns.includes(turn) && turn !== openTurn())
      sound?.transcriber.understood(turn, audio, text);
  }
}

/** Which of the two colours a speaker has. */
export const voiceOf = (speaker) => Math.max(0, labels.indexOf(speaker)) % 2;

/** Whether turns may be that speaker's. */
export const isSpeaker = (label) => labels.includes(label);

/** Draws the turns, for a model with those speakers; `onEdit` is called after every change. */
export function drawTurns(speakers = labels, onEdit = edited) {
  [labels, edited] = [speakers, onEdit];
  sound?.transcriber.follow(turns);
  $("turns").replaceChildren(...turns.map(drawTurn));
  $("add").disabled = turns.length >= MAX_TURNS;
  edited();
}

export function addTurn() {
  const others = labels.filter((label) => label !== openTurn().speaker);
  turns.push({ speaker: others[0] ?? labels[0], text: "", audio: null });
  drawTurns();
  $("turns").lastChild.querySelector("textarea").focus();
}

function drawTurn(turn, index) {
  const isOpen = turn === openTurn();
  const name = `Turn ${index + 1}`;
  const known = labels.includes(turn.speaker) ? labels : [...labels, turn.speaker];
  const options = known.map((value) => h("option", { value }, `Speaker ${value}`));
  const speaker = h("select", { "aria-label": `${name}: speaker` }, ...options);
  speaker.value = turn.speaker;
  speaker.onchange = () => {
    turn.speaker = speaker.value;
    drawTurns();
  };
  const id = `turn-${index + 1}-understood`;
  const text = h("textarea", { rows: 2, maxLength: MAX_TEXT_CHARS, value: turn.text });
  text.setAttribute("aria-label", `${name}: text`);
  text.setAttribute("aria-describedby", id);
  text.placeholder = isOpen ? "What to say. Left empty, it is written for you." : "What was said";
  text.oninput = () => {
    turn.text = text.value;
    sound?.transcriber.wrote(turn);
    mark(item, turn);
    edited();
  };
  text.onchange = () => {
    sound?.transcriber.follow(turns);
    mark(item, turn);
  };
  const remove = button("×", `${name}: remove`, () => {
    turns.splice(index, 1);
    drawTurns();
  });
  remove.hidden = turns.length === 1;
  const role = h("span", { className: "hint" }, isOpen ? "speaks next" : "");
  const item = h("li", { className: isOpen ? "turn open" : "turn" });
  item.dataset.voice = voiceOf(turn.speaker);
  item.append(h("div", { className: "row head" }, speaker, role, remove), text);
  if (!isOpen) item.append(drawAudio(turn, name));
  item.append(h("p", { className: "hint note", id }));
  mark(item, turn);
  item.ondrop = ({ dataTransfer }) => {
    if (!isOpen && dataTransfer.files.length > 0) void attach(turn, dataTransfer.files[0]);
  };
  return item;
}

/** Shows what became of a turn's clip. The page's own status says it aloud, since turns are drawn anew. */
function mark(item, turn) {
  const state = sound?.transcriber.stateOf(turn);
  item.querySelector(".note").textContent = state ? sound.NOTES[state] : "";
  item.querySelector("textarea").classList.toggle("understood", state === "understood");
}

/** Shows words that came by themselves; nothing else is drawn, so that nobody who writes is disturbed. */
function showSuggestion(turn) {
  const index = turns.indexOf(turn);
  const item = $("turns").children[index];
  item.querySelector("textarea").value = turn.text;
  mark(item, turn);
  const note = sound.NOTES[sound.transcriber.stateOf(turn)];
  $("heard").textContent = `Turn ${index + 1}. ${note} ${turn.text}`;
  edited();
}

const button = (words, label, onclick) =>
  h("button", { type: "button", "aria-label": label, title: label, onclick }, words);

function drawAudio(turn, name) {
  const row = h("div", { className: "row audio" });
  if (turn.audio !== null) {
    const detach = button("Remove", `${name}: remove the sound`, () => void attach(turn, null));
    const make = button("Make a voice of it", `${name}: make a voice of this recording`, () =>
      makeVoice(turn.audio, turn.text),
    );
    row.append(h("span", {}, `♪ ${turn.audio.name}, ${turn.audio.durationS.toFixed(1)} s`), make, detach);
    return row;
  }
  const label = `${name}: add its sound, a file`;
  const file = h("input", { type: "file", className: "aloud", accept: "audio/*", "aria-label": label });
  file.onchange = () => void attach(turn, file.files[0]);
  row.append(h("label", {}, "Add its sound", file));
  const toggle = button("Record", `${name}: record`, () =>
    record(turn, toggle).catch(() => showError(new Error("The microphone cannot be used."))),
  );
  if (navigator.mediaDevices !== undefined) row.append(toggle);
  return row;
}

async function withSound() {
  sound ??= (await import("./sound.js")).openSound((clip, signal) => ask(clip, signal), showSuggestion);
  return sound;
}

/** Gives a turn the sound of a file, or none. Whatever the browser can play becomes a WAV as the server wants it. */
export async function attach(turn, blob) {
  try {
    turn.audio = blob && (await (await withSound()).decode(blob));
  } catch {
    showError(new Error(`${blob.name ?? "The recording"} is not a sound that this browser can read.`));
  }
  drawTurns();
}

async function record(turn, toggle) {
  const { record } = await withSound();
  if (await record((recording) => void attach(turn, recording))) toggle.textContent = "Stop recording";
}
