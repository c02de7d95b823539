// The turns of a written conversation: speaker, text and sound.
import { MAX_TEXT_CHARS, MAX_TURNS, openTurn, turns } from "./conversation.js";
import { $, h, showError } from "./dom.js";

let labels = ["0", "1"];
let edited = () => {};
/** The module for turns with sound, loaded with the first of them. */
let sound = null;
let ask = async () => "";
let makeVoice = () => {};

/**
 * Sets the functions for clips: `hear(clip, signal)` resolves to the transcript, `make(clip, transcript)` makes a voice.
 */
export function useClipsBy(hear, make) {
  [ask, makeVoice] = [hear, make];
}

/** Retries failed transcripts with the next drawing. */
export const hearAgain = () => sound?.transcriber.retry();

/** Fills in the transcripts of a reply's clips (`meta.heard`), by turn. */
export function suggest(clips, heard = []) {
  for (const { turn: index, text, problem } of heard) {
    const { turn, audio } = clips[index];
    // A partial transcript would prevent a complete one.
    if (text !== null && problem === undefined && turns.includes(turn) && turn !== openTurn())
      sound?.transcriber.understood(turn, audio, text);
  }
}

/** Returns which of the two colours a speaker has. */
export const voiceOf = (speaker) => Math.max(0, labels.indexOf(speaker)) % 2;

/** Returns whether the model has that speaker. */
export const isSpeaker = (label) => labels.includes(label);

/** Draws the turns for a model with those speakers. `onEdit` is called after every change. */
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
  text.placeholder = isOpen
    ? "The words to speak. Leave this empty and Antiphon writes them."
    : "What was said";
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

/** Shows the state of a turn's clip. `#heard` announces it, because turns are redrawn. */
function mark(item, turn) {
  const state = sound?.transcriber.stateOf(turn);
  item.querySelector(".note").textContent = state ? sound.NOTES[state] : "";
  item.querySelector("textarea").classList.toggle("understood", state === "understood");
}

/** Shows a transcript. Nothing else is redrawn, so typing is not disturbed. */
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
    const detach = button("Remove", `${name}: remove the recording`, () => void attach(turn, null));
    const make = button("Make a voice from it", `${name}: make a voice from this recording`, () =>
      makeVoice(turn.audio, turn.text),
    );
    row.append(h("span", {}, `♪ ${turn.audio.name}, ${turn.audio.durationS.toFixed(1)} s`), make, detach);
    return row;
  }
  const label = `${name}: attach a recording`;
  const file = h("input", { type: "file", className: "aloud", accept: "audio/*", "aria-label": label });
  file.onchange = () => void attach(turn, file.files[0]);
  row.append(h("label", {}, "Attach a recording", file));
  const toggle = button("Record", `${name}: record`, () =>
    record(turn, toggle).catch(() => showError(new Error("The microphone is not available."))),
  );
  if (navigator.mediaDevices !== undefined) row.append(toggle);
  return row;
}

async function withSound() {
  sound ??= (await import("./sound.js")).openSound((clip, signal) => ask(clip, signal), showSuggestion);
  return sound;
}

/** Attaches a recording to a turn, or none. Any file that the browser can play becomes a WAV for the server. */
export async function attach(turn, blob) {
  try {
    turn.audio = blob && (await (await withSound()).decode(blob));
  } catch {
    showError(new Error(`${blob.name ?? "The recording"} is not an audio file that this browser can read.`));
  }
  drawTurns();
}

async function record(turn, toggle) {
  const { record } = await withSound();
  if (await record((recording) => void attach(turn, recording))) toggle.textContent = "Stop recording";
}
