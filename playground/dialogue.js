// The Dialogue tab: a script as turns of several people, spoken in one request.
import { bytesOf } from "./client/antiphon.js";
import { Player, wakeSound } from "./client/player.js";
import { openDialog } from "./dialog.js";
import { parseScript } from "./dialogue/parse-script.js";
import { $, h, problemLine, saveFile, showError } from "./dom.js";
import { drawFace } from "./face.js";
import { modelNow, watchModel } from "./model.js";
import { drawPerson } from "./person.js";
import { hearVoice, hush } from "./preview.js";
import { fail, server } from "./server.js";
import { voicesOf, watchVoices } from "./voices.js";

const EXAMPLE = `# A light on the island
Anna: Ben, are you awake? The lamp has gone out.
Ben: It is three in the morning, Anna. Lamps sleep, too.
Anna: Not in a lighthouse! There is a ship out there.
Ben: Then where are the matches?
Anna (whispering): Listen. Somebody is on the stairs.
Keeper: Good evening. Would you two mind holding the ladder?`;

/** The script as it was last understood: `{ speakers, lines }`. */
let parsed = { speakers: [], lines: [] };
/** Voices that the server lists, and the ids of those that the user chose, by the speaker. */
let voices = [];
const chosen = new Map();
/** Names that the user confirmed as speakers. */
const named = new Set();
/** The elements of each line: `{ item, words, show }`. */
let drawn = [];
/** The dialogue that was requested: `{ player, frames, words, visemes, lines, isWhole }`; null after an edit. */
let spoken = null;
let leaving = new AbortController();
/** The line and word that are highlighted. */
let [litLine, litWord] = [-1, null];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Returns the voice of each speaker as the server casts them: the chosen one, its namesake, or the first that is free. */
function cast() {
  const known = voicesOf(voices, modelNow());
  const isNamed = (name) => (voice) =>
    [voice.id, voice.name, ...voice.aliases].some((each) => each.toLowerCase() === name.toLowerCase());
  const own = parsed.speakers.map(
    (name) => known.find(({ id }) => id === chosen.get(name)) ?? known.find(isNamed(name)),
  );
  const free = known.filter((voice) => voice.owner === "model" && !own.includes(voice));
  const spare = free.length === 0 ? known : free;
  let next = 0;
  return new Map(parsed.speakers.map((name, at) => [name, own[at] ?? spare[next++ % spare.length] ?? null]));
}

const counted = ({ length }, noun) => `${length} ${noun}${length === 1 ? "" : "s"}`;

/** Parses the script and draws it. A script with an error keeps the turns of the one before. */
function edited() {
  silence();
  const note = $("script-note");
  try {
    parsed = parseScript($("script").value, [...named]);
    const { lines, speakers } = parsed;
    note.textContent = `${counted(lines, "turn")}, ${counted(speakers, "speaker")}.`;
    note.className = "hint";
  } catch (error) {
    note.textContent = `${error.message.replace(/^./, (letter) => letter.toUpperCase())}.`;
    note.className = "error";
    const [, name] = /"(.+)" may be a speaker/.exec(error.message) ?? [];
    const add = () => {
      named.add(name);
      edited();
    };
    if (name) note.append(" ", h("button", { type: "button", onclick: add }, `${name} is a speaker`));
  }
  drawLines();
}

function drawLines() {
  const people = cast();
  drawn = parsed.lines.map(({ speaker, text, direction }) => {
    const voice = people.get(speaker);
    const { svg, show } = drawFace(voice ?? { id: speaker });
    const title = `Change the voice of ${speaker}${voice ? `: ${voice.name}` : ""}`;
    const props = { type: "button", className: "portrait", title, "aria-label": title };
    const face = h("button", { ...props, onclick: () => chooseVoice(speaker) }, svg);
    const who = h("span", { className: "who", dir: "auto" }, speaker);
    const notes = [voice && voice.name !== speaker ? voice.name : "", direction ?? ""].filter(Boolean);
    const words = h("p", { className: "words", dir: "auto" }, text);
    const told = h("span", { className: "hint" }, notes.join(" · "));
    const item = h("li", { className: "line" }, face, h("div", {}, h("div", {}, who, " ", told), words));
    item.style.setProperty("--hue", Math.round(45 + 137.508 * parsed.speakers.indexOf(speaker)) % 360);
    return { item, words, show };
  });
  const items = drawn.flatMap(({ item, words }, at) => {
    words.onclick = () => playFrom(at);
    const { scene } = parsed.lines[at];
    return scene ? [h("li", { className: "scene", dir: "auto" }, scene), item] : [item];
  });
  $("lines").replaceChildren(...items);
  [litLine, litWord] = [-1, null];
  drawTransport();
}

/** Opens the grid of voices for a speaker. */
function chooseVoice(speaker) {
  const problem = problemLine();
  const play = async (person) => {
    if (person.dataset.sounds) return hush();
    person.dataset.sounds = true;
    await hearVoice(person.value, modelNow()).catch((error) => fail(error, problem));
    delete person.dataset.sounds;
  };
  const choose = ({ value }) => {
    chosen.set(speaker, value);
    dialog.close();
    silence();
    drawLines();
  };
  const now = cast().get(speaker)?.id;
  const grid = h("div", { className: "people" });
  for (const voice of voicesOf(voices, modelNow())) {
    const card = drawPerson({ ...voice, owner: "model" }, { onPress: choose, onPlay: (it) => void play(it) });
    card.firstChild.setAttribute("aria-pressed", voice.id === now);
    grid.append(card);
  }
  if (grid.childElementCount === 0) grid.append("Connect an API key to see the voices.");
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = openDialog(
    `Voice of ${speaker}`,
    [problem, grid, h("div", { className: "row ends" }, close)],
    hush,
  );
  dialog.classList.add("wide");
}

/** Requests the dialogue and plays it while it arrives. */
async function speak() {
  silence();
  showError(null);
  const { signal } = leaving;
  const mine = { frames: [], words: [], visemes: [], lines: [], isWhole: false };
  try {
    const antiphon = server();
    wakeSound();
    mine.player = new Player({ onPosition: draw, onEnd: draw });
    spoken = mine;
    drawTransport();
    const people = [...cast()].filter(([, voice]) => voice !== null).map(([name, { id }]) => [name, id]);
    const request = {
      script: $("script").value,
      voices: Object.fromEntries(people),
      ...(modelNow() ? { model: modelNow() } : {}),
      ...{ response_format: "pcm", visemes: true },
    };
    for await (const event of antiphon.dialogueStream(request, { signal })) take(mine, event);
  } catch (error) {
    if (signal.aborted) return;
    fail(error);
    if (mine.frames.length === 0) spoken = null;
  }
  mine.player?.complete();
  drawTransport();
}

function take(mine, { type, lines, audio, words = [], visemes = [] }) {
  if (type === "dialogue.started") mine.lines = lines;
  if (type === "speech.audio.done") mine.isWhole = true;
  if (type !== "speech.audio.delta") return;
  mine.words.push(...words.filter(({ length }) => length > 0));
  mine.visemes.push(...visemes);
  const pcm = new Int16Array(bytesOf(audio).buffer);
  mine.frames.push(pcm);
  mine.player.add(pcm);
  if (mine.player.state !== "playing") draw();
}

/** Draws the transport, and highlights the word that is spoken. */
function draw() {
  drawTransport();
  if (spoken === null) return;
  const { player, words, visemes, lines } = spoken;
  const atS = player.positionS;
  const isPlaying = player.state === "playing";
  const at = words.findLastIndex(({ start }) => start <= atS);
  const word = words[at];
  const isOver = at === words.length - 1 && spoken.isWhole && atS >= (word?.end ?? 0);
  light(isOver ? lines.length : (word?.line ?? -1), isOver ? null : word);
  const viseme = isPlaying ? visemes.findLast(({ start }) => start <= atS)?.viseme : "sil";
  if (!calm.matches) drawn[litLine]?.show(viseme, isPlaying);
}

/** Highlights a word of a line. Earlier lines are shown as spoken. */
function light(line, word = null) {
  if (line === litLine && word === litWord) return;
  if (line !== litLine) {
    drawn[litLine]?.show();
    drawn.forEach(({ item, words }, at) => {
      item.dataset.state = at < line ? "spoken" : at === line ? "speaking" : "";
      if (at !== line) words.replaceChildren(parsed.lines[at].text);
    });
    drawn[line]?.item.scrollIntoView({ block: "nearest" });
  }
  [litLine, litWord] = [line, word];
  if (word === null || drawn[line] === undefined) return;
  const letters = Array.from(parsed.lines[line].text);
  const from = word.offset - spoken.lines[line].offset;
  const parts = [
    letters.slice(0, from),
    letters.slice(from, from + word.length),
    letters.slice(from + word.length),
  ];
  const spans = ["heard", "lit", "rest"].map((className, at) => h("span", { className }, parts[at].join("")));
  drawn[line].words.replaceChildren(...spans);
}

function drawTransport() {
  const durationS = spoken?.player.durationS ?? 0;
  const atS = spoken?.player.positionS ?? 0;
  const isPlaying = spoken?.player.state === "playing";
  $("dialogue-play").textContent = isPlaying ? "Pause" : "Play";
  $("dialogue-stop").disabled = spoken === null;
  $("dialogue-play").disabled = parsed.lines.length === 0;
  for (const id of ["dialogue-mp3", "dialogue-vtt"]) $(id).disabled = spoken?.isWhole !== true;
  const place = $("dialogue-place");
  place.disabled = durationS === 0;
  place.max = durationS;
  place.value = atS;
  const clock =
    durationS === 0 ? (isPlaying ? "Waiting…" : "") : `${atS.toFixed(1)} of ${durationS.toFixed(1)} s`;
  $("dialogue-clock").textContent = clock;
  place.setAttribute("aria-valuetext", clock);
}

function toggle() {
  if (spoken === null) return void speak();
  if (spoken.player.state === "playing") spoken.player.pause();
  else spoken.player.resume();
  draw();
}

/** Plays from a line. */
function playFrom(line) {
  const first = spoken?.words.find((word) => word.line === line);
  if (first === undefined) return;
  spoken.player.seek(first.start);
  spoken.player.resume();
  draw();
}

/** Stops the dialogue; the next Play requests it again. */
export function silence() {
  hush();
  leaving.abort();
  leaving = new AbortController();
  spoken?.player.stop();
  spoken = null;
  light(-1);
  drawTransport();
}

async function save(kind) {
  const { dialogueVtt, fileOf } = await import("./files.js");
  saveFile(
    kind === "vtt" ? dialogueVtt($("script").value, spoken) : await fileOf(kind, spoken),
    `dialogue.${kind}`,
  );
}

/** Wires the tab. */
export function openDialogue() {
  $("script").value = EXAMPLE;
  $("script").oninput = edited;
  $("dialogue-play").onclick = toggle;
  $("dialogue-stop").onclick = silence;
  $("dialogue-place").oninput = () => {
    spoken.player.seek($("dialogue-place").valueAsNumber);
    draw();
  };
  for (const kind of ["mp3", "vtt"]) $(`dialogue-${kind}`).onclick = () => void save(kind).catch(showError);
  watchVoices((list) => {
    voices = list;
    if (spoken === null) drawLines();
  });
  watchModel(edited);
  edited();
}

/** Plays the dialogue from the keyboard. */
export const playDialogue = () => void speak();
