import { encodeWav, toBase64 } from "./client/antiphon.js";
import { SAMPLE_RATE_HZ } from "./client/player.js";
import { $, h, showError } from "./dom.js";
import { Hearing, MAX_TEXT_CHARS, NOTES } from "./hearing.js";

/** The conversation, oldest first: `{ speaker, text, audio: null | { name, durationS, wav, base64 } }`. */
export const turns = [
  { speaker: "0", text: "Did you sleep well?", audio: null },
  { speaker: "1", text: "Like a log, thank you. And you?", audio: null },
];

/** The conversation as a request has it: the last turn is the open one, which has no audio. */
export const conversation = () =>
  turns.map(({ speaker, text, audio }, index) => ({
    speaker,
    ...(text.trim() === "" ? {} : { text }),
    ...(audio === null || index === turns.length - 1 ? {} : { audio_wav_b64: audio.base64 }),
  }));

let labels = ["0", "1"];
let edited = () => {};
let hear = async () => "";
let recorder = null;

const hearing = new Hearing((audio, signal) => hear(audio, signal), showSuggestion);

/** Has the clips of turns without text heard by `ask`, which is told a clip and a signal and answers what is said. */
export function hearTurnsBy(ask) {
  hear = ask;
}

/** Lets clips be heard that could not be, with the next drawing. */
export const hearAgain = () => hearing.retry();

/** The clips as they are now, by turn. */
export const clipsNow = () => turns.map((turn) => ({ turn, audio: turn.audio }));

/** Fills in what a reply understood (`meta.heard`) of the clips that it was asked with. */
export function suggest(clips, heard = []) {
  for (const { turn: index, text, problem } of heard) {
    const { turn, audio } = clips[index];
    // Words of a part alone would keep the rest from being heard.
    if (text !== null && problem === undefined && turns.slice(0, -1).includes(turn))
      hearing.understood(turn, audio, text);
  }
}

/** Draws the turns, for a model with those speakers; `onEdit` is called after every change. */
export function drawTurns(speakers = labels, onEdit = edited) {
  [labels, edited] = [speakers, onEdit];
  hearing.follow(turns);
  $("turns").replaceChildren(...turns.map(drawTurn));
  edited();
}

export function addTurn() {
  const others = labels.filter((label) => label !== turns.at(-1).speaker);
  turns.push({ speaker: others[0] ?? labels[0], text: "", audio: null });
  drawTurns();
  $("turns").lastChild.querySelector("textarea").focus();
}

function drawTurn(turn, index) {
  const isOpen = index === turns.length - 1;
  const name = `Turn ${index + 1}`;
  const options = labels.map((value) => h("option", { value }, `Speaker ${value}`));
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
    hearing.wrote(turn);
    mark(item, turn);
    edited();
  };
  text.onchange = () => {
    hearing.follow(turns);
    mark(item, turn);
  };
  const remove = button("×", `${name}: remove`, () => {
    turns.splice(index, 1);
    drawTurns();
  });
  remove.hidden = turns.length === 1;
  const role = h("span", { className: "hint" }, isOpen ? "to be spoken" : "");
  const item = h("li", { className: isOpen ? "turn open" : "turn" });
  item.dataset.voice = labels.indexOf(turn.speaker) % 2;
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
  const state = hearing.stateOf(turn) ?? "written";
  item.querySelector(".note").textContent = NOTES[state];
  item.querySelector("textarea").classList.toggle("understood", state === "understood");
}

/** Shows words that came by themselves; nothing else is drawn, so that nobody who writes is disturbed. */
function showSuggestion(turn) {
  const index = turns.indexOf(turn);
  const item = $("turns").children[index];
  item.querySelector("textarea").value = turn.text;
  mark(item, turn);
  $("heard").textContent = `Turn ${index + 1}. ${NOTES[hearing.stateOf(turn)]} ${turn.text}`;
  edited();
}

const button = (words, label, onclick) =>
  h("button", { type: "button", "aria-label": label, title: label, onclick }, words);

function drawAudio(turn, name) {
  const row = h("div", { className: "row audio" });
  if (turn.audio !== null) {
    const detach = button("Remove", `${name}: remove the sound`, () => void attach(turn, null));
    row.append(h("span", {}, `♪ ${turn.audio.name}, ${turn.audio.durationS.toFixed(1)} s`), detach);
    return row;
  }
  const file = h("input", {
    type: "file",
    accept: "audio/*",
    "aria-label": `${name}: how it was said, a file`,
  });
  file.onchange = () => void attach(turn, file.files[0]);
  row.append(file);
  const toggle = button("Record", `${name}: record`, () =>
    record(turn, toggle).catch(() => showError(new Error("The microphone cannot be used."))),
  );
  if (navigator.mediaDevices !== undefined) row.append(toggle);
  return row;
}

/** Whatever the browser can play becomes a WAV as the server wants it. */
async function attach(turn, blob) {
  try {
    turn.audio = blob && (await decode(blob));
  } catch {
    showError(new Error(`${blob.name ?? "The recording"} is not a sound that this browser can read.`));
  }
  drawTurns();
}

async function decode(blob) {
  const sound = await new OfflineAudioContext(1, 1, SAMPLE_RATE_HZ).decodeAudioData(await blob.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, i) => sound.getChannelData(i));
  const mean = (at) => channels.reduce((sum, channel) => sum + channel[at], 0) / channels.length;
  const pcm = Int16Array.from(channels[0], (_, at) => 32_767 * Math.max(-1, Math.min(1, mean(at))));
  const wav = encodeWav([pcm]);
  return { name: blob.name ?? "recording.wav", durationS: sound.duration, wav, base64: toBase64(wav) };
}

async function record(turn, toggle) {
  if (recorder !== null) return recorder.stop();
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
  const pieces = [];
  recorder = new MediaRecorder(microphone);
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onstop = () => {
    recorder = null;
    for (const track of microphone.getTracks()) track.stop();
    void attach(turn, new Blob(pieces));
  };
  recorder.start();
  toggle.textContent = "Stop recording";
}
