// What was said, turn by turn; of a reply, the words light up as they are heard.
import { Player } from "./client/player.js";
import { heardText } from "./client/realtime.js";
import { $, h, showError } from "./dom.js";

/** Replies whose sound is kept, to be heard again and saved: the last ones. */
const MAX_SOUNDS = 20;
const FILES = ["wav", "mp3", "opus", "flac", "vtt", "srt"];

/** What there is of each turn on the page, by its id: `{ item, words, foot, frames, again }`. */
const shown = new Map();

/** Draws the turns: those that changed, came or went. */
export function drawThread(turns) {
  const ids = new Set(turns.map(({ id }) => id));
  for (const [id, { item }] of shown) {
    if (ids.has(id)) continue;
    item.remove();
    shown.delete(id);
  }
  for (const turn of turns) drawTurn(turn);
}

/** Draws one turn; a new one comes last. */
export function drawTurn(turn) {
  const isNew = !shown.has(turn.id);
  if (isNew) shown.set(turn.id, open(turn));
  const { item, words, foot } = shown.get(turn.id);
  item.dataset.state = turn.state;
  if (turn.role === "user") words.replaceChildren(turn.text || "…");
  else if (turn.state === "speaking") light(turn, shown.get(turn.id).atS);
  else drawEnded(turn, words);
  foot.replaceChildren(...footOf(turn));
  if (isNew) follow();
}

/** Keeps a piece of a reply's sound. */
export function keepSound({ id }, pcm) {
  const { frames } = shown.get(id);
  if (frames.length === 0) {
    const others = [...shown.values()].filter((each) => each.frames.length > 0);
    for (const old of others.slice(0, Math.max(0, others.length + 1 - MAX_SOUNDS))) forget(old);
  }
  frames.push(pcm);
}

/** Lights the word of a reply that is heard at that second. */
export function light(turn, seconds) {
  const mine = shown.get(turn.id);
  mine.atS = seconds;
  const letters = Array.from(turn.text);
  const now = turn.words.findLast(({ start }) => start <= seconds);
  const from = now?.offset ?? 0;
  const to = now ? from + now.length : 0;
  const text = (a, b) => letters.slice(a, b).join("");
  const [heard, lit, rest] = [text(0, from), text(from, to), text(to)];
  if (mine.words.childElementCount !== 3) {
    const parts = ["heard", "lit", "rest"].map((className) => h("span", { className }));
    mine.words.replaceChildren(...parts);
  }
  [heard, lit, rest].forEach((part, index) => {
    const element = mine.words.children[index];
    if (element.textContent !== part) element.textContent = part;
  });
  follow();
}

/** Forgets everything that is shown. */
export function clearThread() {
  drawThread([]);
}

function open({ id, role }) {
  const isUser = role === "user";
  const words = h("p", { className: "words" });
  const foot = h("div", { className: "row foot hint" });
  const item = h("li", { className: `said ${role}` });
  item.dataset.voice = isUser ? 1 : 0;
  item.dataset.id = id;
  item.append(h("span", { className: "who" }, isUser ? "You" : "Antiphon"), words, foot);
  $("thread").append(item);
  return { item, words, foot, frames: [], player: null, atS: -1 };
}

function drawEnded(turn, words) {
  const heard = heardText(turn);
  const rest = turn.text.slice(heard.length);
  words.replaceChildren(h("span", { className: "heard" }, heard), h("s", { className: "rest" }, rest));
}

function footOf(turn) {
  if (turn.role === "user")
    return { speaking: ["listening"], recognising: ["is being understood"] }[turn.state] ?? [];
  const parts = [];
  if (turn.latencyMs !== null)
    parts.push(h("span", { className: "latency" }, `after ${(turn.latencyMs / 1_000).toFixed(2)} s`));
  if (turn.state === "interrupted") parts.push("interrupted");
  if (turn.state !== "speaking" && shown.get(turn.id).frames.length > 0) parts.push(...soundOf(turn));
  return parts;
}

/** To hear a reply again, and to save it. */
function soundOf(turn) {
  const mine = shown.get(turn.id);
  const play = () => {
    mine.player?.stop();
    mine.player = new Player({ onPosition: (seconds) => light(turn, seconds), onEnd: () => drawTurn(turn) });
    for (const frame of mine.frames) mine.player.add(frame);
    mine.player.complete();
  };
  const options = FILES.map((kind) => h("option", { value: kind }, kind.toUpperCase()));
  const save = h(
    "select",
    { "aria-label": "Save this reply as" },
    h("option", { value: "" }, "Save…"),
    ...options,
  );
  save.onchange = () => {
    const kind = save.value;
    save.value = "";
    void saveAs(kind, mine.frames, turn).catch(showError);
  };
  return [h("button", { type: "button", onclick: play }, "Hear it again"), save];
}

async function saveAs(kind, frames, { text, words }) {
  const { fileOf } = await import("./files.js");
  const href = URL.createObjectURL(await fileOf(kind, { frames, text, words }));
  h("a", { href, download: `antiphon.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Silences replies that are heard again. */
export function silenceAgain() {
  for (const mine of shown.values()) mine.player?.stop();
}

function forget(old) {
  old.player?.stop();
  old.frames.length = 0;
  for (const control of old.foot.querySelectorAll("button, select")) control.remove();
}

/** The newest is in sight, unless somebody reads further up. */
function follow() {
  const thread = $("thread");
  if (thread.scrollHeight - thread.scrollTop - thread.clientHeight < 240)
    thread.scrollTop = thread.scrollHeight;
}
