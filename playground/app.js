import { bytesOf } from "./client/antiphon.js";
import { wakeSound } from "./client/player.js";
import { MAX_TURNS, openTurn, setTurns, turns } from "./conversation.js";
import { bodyNow, chooseVoice, offer, openDelivery, resetKnobs, showModel } from "./delivery.js";
import { $, copyText, h, showError } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { followAddress, readAddress, share, tellRefused, writeAddress } from "./link.js";
import { hush } from "./preview.js";
import { openCode, showCode } from "./programs.js";
import { beginReply, drawReply, endReply, openTransport, reply, take } from "./reply.js";
import { fail, hasKey, hasSecret, keepKey, keptKey, server, takeSecret } from "./server.js";
import { checkLink, leave, openTalk } from "./talk.js";
import { addTurn, attach, drawTurns, hearAgain, suggest, useClipsBy, voiceOf } from "./turns.js";
import { listVoices } from "./voices.js";

const FILES = { WAV: "wav", MP3: "mp3", Opus: "opus", FLAC: "flac", VTT: "vtt", SRT: "srt" };
const START = EXAMPLES[0].turns;

/** What gives up whatever the page asks the server to say. */
let leaving = new AbortController();

async function connect() {
  try {
    const antiphon = server();
    const [info, cards] = await Promise.all([antiphon.info(), antiphon.models(), listVoices()]);
    keepKey();
    $("key-state").textContent = "Connected. The key is kept in this tab only.";
    hearAgain();
    tellRefused(offer(info, cards));
  } catch (error) {
    $("key-state").textContent = "Not connected.";
    fail(error);
  }
}

/** Something was edited: the code and the address follow. */
function edited() {
  showCode();
  if (reply === null) $("reply").dataset.voice = voiceOf(openTurn().speaker);
  // That of a talk leads back to it.
  if (document.body.dataset.view === "compose") followAddress();
}

/** Puts an example there, behind which the browser's Back leads, and speaks it. */
async function tryExample({ turns: given, voicedBy, phonemes = false }) {
  writeAddress();
  setTurns(given);
  writeAddress("pushState");
  showPhonemes(phonemes);
  drawTurns();
  if (voicedBy && !(await voice(turns[0], voicedBy))) return;
  await speak();
}

/** Has a turn spoken by somebody, to be its sound. Says whether that is still wanted. */
async function voice(turn, speaker) {
  const mine = begin("An earlier turn is spoken first…");
  try {
    const { audio } = await server().tts({ text: turn.text, speaker }, { signal: mine.signal });
    await attach(turn, new File([bytesOf(audio.data_b64)], "turn-1.wav"));
    return leaving === mine;
  } catch (error) {
    if (leaving === mine) gaveUp(error);
    return false;
  }
}

/** What is said in a clip. Nobody waits for it, so a key that is not there yet is not asked for. */
async function hear({ wav }, signal) {
  if (!hasKey()) throw new Error("There is no key yet.");
  return (await server().transcribe({ file: wav }, { signal })).text;
}

/** Asks for what a voice of a clip needs, and makes it. */
async function makeVoice(clip, said) {
  stop();
  try {
    const [{ openNewVoice }, { limits }] = await Promise.all([import("./new-voice.js"), server().info()]);
    openNewVoice(clip, said, { hear, choose: chooseVoice, keptS: limits.kept_voice_seconds });
  } catch (error) {
    fail(error);
  }
}

/** Shows the conversation that is held by voice (`talk`), or the one that is written (`compose`). */
function show(view) {
  hush();
  document.body.dataset.view = view;
  for (const each of ["talk", "compose"]) $(`view-${each}`).setAttribute("aria-pressed", each === view);
  if (view === "compose") {
    leave();
    drawReply();
    followAddress();
  } else stop();
}

/** Goes on in writing with what was said. */
function compose(said) {
  setTurns(said);
  drawTurns();
  writeAddress("pushState");
  show("compose");
}

/** Takes what the address brings: a secret to talk by, or a conversation in writing. */
function arrive() {
  if (takeSecret()) {
    show("talk");
    void checkLink();
    return;
  }
  readAddress(START);
  if (location.hash !== "") show("compose");
}

/** Gives up what is going on, and begins something else. */
function begin(state) {
  stop();
  showError(null);
  leaving = new AbortController();
  $("state").textContent = state;
  $("cut").hidden = true;
  return leaving;
}

/** Says that something was stopped, or why it failed. */
function gaveUp(error) {
  const isStopped = error.name === "AbortError";
  $("state").textContent = isStopped ? "Stopped." : "";
  if (!isStopped) fail(error);
}

async function speak() {
  const mine = begin("Waiting for the first sound…");
  const clips = turns.map((turn) => ({ turn, audio: turn.audio }));
  const speech = beginReply(voiceOf(openTurn().speaker), openTurn().text);
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

/** Says how much of the last turn was spoken, where it is longer than a reply; the button makes a turn of the rest. */
function offerRest(spokenChars) {
  const chars = Array.from(openTurn().text);
  if (spokenChars >= chars.length) return;
  const [sentence, more] = $("cut").children;
  sentence.textContent = `A reply has a longest length, so only ${spokenChars} of ${chars.length} characters were spoken.`;
  // The rest of SSML is none.
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
  const href = URL.createObjectURL(await fileOf(kind, reply));
  h("a", { href, download: `antiphon.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

const button = (words, props, act) =>
  h("button", { type: "button", ...props, onclick: () => void act().catch(showError) }, words);
$("examples").append(...EXAMPLES.map((example) => button(example.name, {}, () => tryExample(example))));
for (const [name, kind] of Object.entries(FILES))
  $("save").append(button(name, { "aria-label": `Save as ${name}`, disabled: true }, () => save(kind)));
const clicks = {
  add: addTurn,
  speak,
  stop,
  "view-talk": () => show("talk"),
  "view-compose": () => show("compose"),
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
// A sound that is dropped beside a turn must not replace the page.
document.ondragover = document.ondrop = (event) => event.preventDefault();
document.onkeydown = (event) => {
  // A dialog has the keyboard to itself.
  if (document.querySelector("dialog[open]") !== null) return;
  if (document.body.dataset.view === "talk") {
    if (event.key === "Escape") hush();
  } else if (event.key === "Escape") stop();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void speak();
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
  // Not every server tells its voices without a key; then they come with one.
  void listVoices().catch(() => {});
}
