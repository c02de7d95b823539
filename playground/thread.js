// The turns of a spoken conversation. Words of a reply light up as they are spoken.
import { Player } from "./client/player.js";
import { heardText } from "./client/realtime.js";
import { $, h, saveFile, showError } from "./dom.js";

/** Maximum number of replies whose sound is kept: the last ones. */
const MAX_SOUNDS = 20;
const FILES = ["wav", "mp3", "opus", "flac", "vtt", "srt"];

/** Elements and sound of each turn, by its id: `{ item, words, foot, frames, player, atS }`. */
const shown = new Map();

/** Draws the turns and removes those that are gone. */
export function drawThread(turns) {
  const ids = new Set(turns.map(({ id }) => id));
  for (const [id, { item }] of shown) {
    if (ids.has(id)) continue;
    item.remove();
    shown.delete(id);
  }
  for (const turn of turns) drawTurn(turn);
}

/** Draws a turn. A new one is appended. */
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

/** Keeps a frame of a reply's sound. */
export function keepSound({ id }, pcm) {
  const { frames } = shown.get(id);
  if (frames.length === 0) {
    const others = [...shown.values()].filter((each) => each.frames.length > 0);
    for (const old of others.slice(0, Math.max(0, others.length + 1 - MAX_SOUNDS))) forget(old);
  }
  frames.push(pcm);
}

/** Highlights the word of a reply that is spoken at that second. */
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

/** Removes all turns. */
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
    return { speaking: ["listening"], recognising: ["transcribing"] }[turn.state] ?? [];
  const parts = [];
  if (turn.latencyMs !== null)
    parts.push(h("span", { className: "latency" }, `answered in ${(turn.latencyMs / 1_000).toFixed(2)} s`));
  if (turn.state === "interrupted") parts.push("interrupted");
  if (turn.state !== "speaking" && shown.get(turn.id).frames.length > 0) parts.push(...soundOf(turn));
  return parts;
}

/** Returns controls that replay and save a reply. */
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
  return [h("button", { type: "button", onclick: play }, "Play again"), save];
}

async function saveAs(kind, frames, { text, words }) {
  const { fileOf } = await import("./files.js");
  saveFile(await fileOf(kind, { frames, text, words }), `antiphon.${kind}`);
}

/** Stops replies that play again. */
export function silenceAgain() {
  for (const mine of shown.values()) mine.player?.stop();
}

function forget(old) {
  old.player?.stop();
  old.frames.length = 0;
  for (const control of old.foot.querySelectorAll("button, select")) control.remove();
}

/** Scrolls to the newest turn, unless the user has scrolled up. */
function follow() {
  const thread = $("thread");
  if (thread.scrollHeight - thread.scrollTop - thread.clientHeight < 240)
    thread.scrollTop = thread.scrollHeight;
}
