import { $, h, showError } from "./dom.js";
import { encodeWav, SAMPLE_RATE_HZ, toBase64 } from "./wire.js";

/** The conversation, oldest first: `{ speaker, text, audio: null | { name, durationS, base64 } }`. */
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
let recorder = null;

/** Draws the turns, for a model with those speakers; `onEdit` is called after every change. */
export function drawTurns(speakers = labels, onEdit = edited) {
  [labels, edited] = [speakers, onEdit];
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
  const text = h("textarea", { rows: 2, maxLength: 8_000, value: turn.text, "aria-label": `${name}: text` });
  text.placeholder = isOpen ? "What to say. Left empty, it is written for you." : "What was said";
  text.oninput = () => {
    turn.text = text.value;
    edited();
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
  item.ondrop = ({ dataTransfer }) => {
    if (!isOpen && dataTransfer.files.length > 0) void attach(turn, dataTransfer.files[0]);
  };
  return item;
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
  const base64 = toBase64(encodeWav([pcm]));
  return { name: blob.name ?? "recording.wav", durationS: sound.duration, base64 };
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
