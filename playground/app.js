import { bytesOf } from "./client/antiphon.js";
import { wakeSound } from "./client/player.js";
import { MAX_TURNS, openTurn, setTurns, turns } from "./conversation.js";
import {
  bodyNow,
  chooseVoice,
  offer,
  openDelivery,
  resetKnobs,
  showModel,
  speakingVoice,
} from "./delivery.js";
import { $, copyText, h, saveFile, showError } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { followAddress, readAddress, share, tellRefused, writeAddress } from "./link.js";
import { hush } from "./preview.js";
import { openCode, showCode } from "./programs.js";
import { beginReply, drawReply, endReply, openTransport, reply, take } from "./reply.js";
import { fail, hasKey, hasSecret, keepKey, keptKey, server, showConnected, takeSecret } from "./server.js";
import { checkLink, leave, openTalk } from "./talk.js";
import { addTurn, attach, drawTurns, hearAgain, suggest, useClipsBy, voiceOf } from "./turns.js";
import { listVoices } from "./voices.js";

const FILES = { WAV: "wav", MP3: "mp3", Opus: "opus", FLAC: "flac", VTT: "vtt", SRT: "srt" };
const VIEWS = ["talk", "dialogue", "compose"];
const START = EXAMPLES[0].turns;

/** The module of the Dialogue tab; null until it is loaded. */
let dialogue = null;
/** Ends the current request for speech. */
let leaving = new AbortController();

async function connect() {
  try {
    const antiphon = server();
    const [info, cards] = await Promise.all([antiphon.info(), antiphon.models(), listVoices()]);
    keepKey();
    showConnected("Connected. This tab keeps the key until you close it.");
    hearAgain();
    tellRefused(offer(info, cards));
  } catch (error) {
    $("menu").open = true;
    $("key-state").textContent = "Not connected.";
    fail(error);
  }
}

/** Updates the code and the address after an edit. */
function edited() {
  showCode();
  if (reply === null) $("reply").dataset.voice = voiceOf(openTurn().speaker);
  // In Talk, the address leads back to the talk.
  if (document.body.dataset.view === "compose") followAddress();
}

/** Shows an example as a new entry of the history, and speaks it. */
async function tryExample({ turns: given, voicedBy, phonemes = false }) {
  writeAddress();
  setTurns(given);
  writeAddress("pushState");
  showPhonemes(phonemes);
  drawTurns();
  if (voicedBy && !(await voice(turns[0], voicedBy))) return;
  await speak();
}

/** Attaches a spoken recording to a turn. Returns whether it is still wanted. */
async function voice(turn, speaker) {
  const mine = begin("Recording the first turn…");
  try {
    const { audio } = await server().tts({ text: turn.text, speaker }, { signal: mine.signal });
    await attach(turn, new File([bytesOf(audio.data_b64)], "turn-1.wav"));
    return leaving === mine;
  } catch (error) {
    if (leaving === mine) gaveUp(error);
    return false;
  }
}

/** Transcribes a clip. Without a key, it fails without a message. */
async function hear({ wav }, signal) {
  if (!hasKey()) throw new Error("There is no key yet.");
  return (await server().transcribe({ file: wav }, { signal })).text;
}

/** Opens the dialog that makes a voice from a clip. */
async function makeVoice(clip, said) {
  stop();
  try {
    const [{ openNewVoice }, { limits }] = await Promise.all([import("./new-voice.js"), server().info()]);
    openNewVoice(clip, said, { hear, choose: chooseVoice, keptS: limits.kept_voice_seconds });
  } catch (error) {
    fail(error);
  }
}

/** Loads the Dialogue tab when it is first shown. */
async function openDialogueTab() {
  const module = await import("./dialogue.js");
  if (dialogue !== null) return;
  dialogue = module;
  document.head.append(h("link", { rel: "stylesheet", href: "/playground/dialogue.css" }));
  dialogue.openDialogue();
}

/** Shows a tab. */
function show(view) {
  hush();
  document.body.dataset.view = view;
  for (const each of VIEWS) $(`view-${each}`).setAttribute("aria-pressed", each === view);
  if (view !== "talk") leave();
  if (view === "dialogue") void openDialogueTab().catch(showError);
  else dialogue?.silence();
  if (view !== "compose") return stop();
  drawReply();
  followAddress();
}

/** Continues a talk in writing. */
function compose(said) {
  setTurns(said);
  drawTurns();
  writeAddress("pushState");
  show("compose");
}

/** Reads the address: the secret of a talk link, or a written conversation. */
function arrive() {
  if (takeSecret()) {
    show("talk");
    void checkLink();
    return;
  }
  readAddress(START);
  if (location.hash !== "") show("compose");
}

/** Stops the current speech and begins another. */
function begin(state) {
  stop();
  showError(null);
  leaving = new AbortController();
  $("state").textContent = state;
  $("cut").hidden = true;
  return leaving;
}

/** Reports that speech was stopped, or why it failed. */
function gaveUp(error) {
  const isStopped = error.name === "AbortError";
  $("state").textContent = isStopped ? "Stopped." : "";
  if (!isStopped) fail(error);
}

async function speak() {
  const mine = begin("Waiting for the first audio…");
  const clips = turns.map((turn) => ({ turn, audio: turn.audio }));
  const speech = beginReply(voiceOf(openTurn().speaker), speakingVoice(), openTurn().text);
  $("reply").scrollIntoView({ block: "nearest" });
  try {
    const body = { ...bodyNow(), visemes: true };
    for await (const event of server().stream(body, { signal: mine.signal })) {
      take(speech, event);
      if (event.event === "audio" && speech.frames.length === 1) $("state").textContent = "Speaking…";
      if (event.event !== "end") continue;
      const { speaker, text, meta } = event.data;
      $("state").textContent = [`Speaker ${speaker}`, ...(meta.cautions ?? [])].join(" · ");
      $("heard").textContent = `Speaker ${speaker}: “${text}”`;
      suggest(clips, meta.heard);
      if (meta.stop === "length") offerRest(meta.spoken_characters);
    }
  } catch (error) {
    if (leaving === mine) gaveUp(error);
  }
  endReply(speech);
}

/** Reports how much of a long turn was spoken. The button makes a turn of the rest. */
function offerRest(spokenChars) {
  const chars = Array.from(openTurn().text);
  if (spokenChars >= chars.length) return;
  const [sentence, more] = $("cut").children;
  sentence.textContent = `The turn is longer than a reply may be: only ${spokenChars} of ${chars.length} characters were spoken.`;
  // A part of an SSML document is not valid.
  more.hidden = /^\s*<(?:speak|\?xml|!--)/.test(openTurn().text);
  $("cut").hidden = false;
  more.onclick = () => {
    const open = openTurn();
    open.text = chars.slice(0, spokenChars).join("").trim();
    turns.push({ speaker: open.speaker, text: chars.slice(spokenChars).join("").trim(), audio: null });
    turns.splice(0, turns.length - MAX_TURNS);
    drawTurns();
    writeAddress("pushState");
    void speak();
  };
}

function stop() {
  hush();
  leaving.abort();
  reply?.player.stop();
  drawReply();
}

function showPhonemes(isShown) {
  $("phonemes").setAttribute("aria-pressed", isShown);
  $("words").classList.toggle("phonemes", isShown);
}

async function save(kind) {
  const { fileOf } = await import("./files.js");
  saveFile(await fileOf(kind, reply), `antiphon.${kind}`);
}

const button = (words, props, act) =>
  h("button", { type: "button", ...props, onclick: () => void act().catch(showError) }, words);
$("examples").append(...EXAMPLES.map((example) => button(example.name, {}, () => tryExample(example))));
for (const [name, kind] of Object.entries(FILES))
  $("save").append(button(name, { "aria-label": `Save as ${name}`, disabled: true }, () => save(kind)));
for (const view of VIEWS) $(`view-${view}`).onclick = () => show(view);
const clicks = {
  add: addTurn,
  speak,
  stop,
  share,
  reset: resetKnobs,
  phonemes: () => showPhonemes($("phonemes").getAttribute("aria-pressed") !== "true"),
  copy: () => copyText($("copy"), $("program").textContent),
};
for (const [id, act] of Object.entries(clicks)) $(id).onclick = () => void act();
$("model").onchange = showModel;
$("code").ontoggle = openCode;
$("key-form").onsubmit = (event) => {
  event.preventDefault();
  showError(null);
  void connect();
};
// A file that is dropped next to a turn must not replace the page.
document.ondragover = document.ondrop = (event) => event.preventDefault();
document.onkeydown = (event) => {
  // An open dialog handles the keyboard.
  if (document.querySelector("dialog[open]") !== null) return;
  const { view } = document.body.dataset;
  const tabs = {
    talk: [null, hush],
    dialogue: [dialogue?.playDialogue, dialogue?.silence],
    compose: [speak, stop],
  };
  const [play, quiet] = tabs[view];
  if (event.key === "Escape") quiet?.();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void play?.();
};
for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wakeSound, { once: true });
addEventListener("hashchange", arrive);
useClipsBy(hear, (clip, said) => void makeVoice(clip, said));
setTurns(START);
openDelivery(edited, stop);
drawTurns(["0", "1"], edited);
openTransport();
openTalk(compose);
const hadSecret = hasSecret();
arrive();
$("key").value = keptKey();
if (hasKey()) void connect();
else {
  if (hadSecret) void checkLink();
  else $("menu").open = true;
  // Some servers list voices only with a key.
  void listVoices().catch(() => {});
}
