import { fromAddress, toAddress } from "./address.js";
import { Antiphon, AntiphonError, bytesOf } from "./client/antiphon.js";
import { wakeSound } from "./client/player.js";
import { conversation, openTurn, setTurns, turns } from "./conversation.js";
import { $, copyText, h, showError } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { drawKnobs, markUnused, params } from "./knobs.js";
import { beginReply, drawReply, endReply, openTransport, reply, take } from "./reply.js";
import { addTurn, attach, drawTurns, hearAgain, hearTurnsBy, suggest, voiceOf } from "./turns.js";

const FILES = { WAV: "wav", MP3: "mp3", Opus: "opus", FLAC: "flac", VTT: "vtt", SRT: "srt" };
const PLAIN_WORDS = {
  200: "The reply broke off.",
  400: "The server cannot speak this as it is.",
  401: "The key was not accepted.",
  422: "The request is not as the server wants it.",
  429: "This key asks too often.",
  502: "The reply could not be spoken.",
};

let knobs = [];
let models = [];
/** What the address asks of model and knobs, until the server has told which there are. */
let wanted = { params: {} };
/** What gives up whatever the page asks the server for. */
let leaving = new AbortController();
/** Programs for what is asked for, once somebody looks at them. */
let code = null;

/** What the page begins with. */
const START = { turns: EXAMPLES[0].turns, params: {} };

const isKey = (key) => /^[\x21-\x7e]+$/.test(key);

/** The server, by the key that is there now. A failure is shown at once, so nothing is asked for again. */
function server() {
  const apiKey = $("key").value.trim();
  if (isKey(apiKey)) return new Antiphon({ baseUrl: "", apiKey, maxRetries: 0 });
  $("key").focus();
  throw new Error("Paste an API key first: the server printed one at its first start.");
}

/** Shows a failure in plain words. */
function fail(error) {
  if (!(error instanceof AntiphonError)) return showError(error);
  const { status, type, message: detail, requestId } = error;
  if (type === "timeout_error") return showError(new Error("The server has not answered for two minutes."));
  if (status === null) return showError(new Error("The server cannot be reached. Is it running?"));
  const plain = PLAIN_WORDS[status] ?? "Something went wrong in the server.";
  showError(Object.assign(new Error(plain), { detail, requestId }));
}

async function connect() {
  try {
    const antiphon = server();
    const [info, cards] = await Promise.all([antiphon.info(), antiphon.models()]);
    sessionStorage.setItem("antiphon-key", $("key").value.trim());
    [knobs, models] = [info.param_schema, cards];
    const named = models.map((card) => h("option", { value: card.id }, card.display_name));
    $("model").replaceChildren(...named);
    $("model").disabled = $("reset").hidden = false;
    $("key-state").textContent = "Connected. The key is kept in this tab only.";
    hearAgain();
    setDelivery();
  } catch (error) {
    $("key-state").textContent = "Not connected.";
    fail(error);
  }
}

/** Sets model and knobs as the address wants them, as far as there are such. */
function setDelivery() {
  if (models.length === 0) return;
  const model = models.find(({ id }) => id === wanted.model) ?? models.find((card) => card.default);
  const vain = drawKnobs(knobs, edited, wanted.params);
  if (wanted.model && wanted.model !== model.id) vain.unshift(`model ${wanted.model}`);
  if (vain.length > 0) refuse(`this server does not take its ${vain.join(", ")}`);
  wanted = { params: {} };
  $("model").value = model.id;
  chooseModel();
}

function chooseModel() {
  const { id, description, speakers } = models.find((card) => card.id === $("model").value);
  $("model-description").textContent = description;
  markUnused(knobs, id);
  drawTurns(speakers);
}

/** Takes the conversation of the address; without one, the first example. What cannot be read changes nothing. */
function readAddress() {
  showError(null);
  try {
    const address = location.hash.slice(1);
    wanted = address ? fromAddress(address) : START;
    setTurns(wanted.turns);
    setDelivery();
    drawTurns();
  } catch (error) {
    refuse(error.message);
  }
  written = addressNow();
}

const refuse = (why) =>
  showError(Object.assign(new Error("What the address asks for was left out."), { detail: why }));

/** The address of what is there now; without the conversation where that is too long. */
function addressNow() {
  const model = models.find(({ id }) => id === $("model").value);
  const asked = { turns, model: model?.default ? null : model?.id, params };
  const address = toAddress(models.length > 0 ? asked : { ...wanted, turns });
  return address === null ? location.pathname : `#${address}`;
}

/** The address of what was read from it, or written into it. */
let written = "";
let writing = 0;

/** Something was edited: the address and the code follow. */
function edited() {
  showCode();
  if (reply === null) $("reply").dataset.voice = voiceOf(openTurn().speaker);
  clearTimeout(writing);
  // Browsers count how often an address changes.
  writing = setTimeout(writeAddress, 300);
}

/** Writes the address, in the place of the one that is there or as one that Back leads away from. */
function writeAddress(write = "replaceState") {
  clearTimeout(writing);
  if (addressNow() === written) return;
  written = addressNow();
  history[write](null, "", written);
}

async function share() {
  written = addressNow();
  history.replaceState(null, "", written);
  if (!written.startsWith("#")) return showError(new Error("This conversation is too long for a link."));
  const hasSound = conversation().some((turn) => turn.audio_wav_b64);
  await copyText($("share"), location.href, hasSound ? "Copied, without the sound" : "Copied");
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

/** Has a turn spoken by somebody, to be its sound. */
async function voice(turn, speaker) {
  const { signal } = begin("An earlier turn is spoken first…");
  try {
    const { audio } = await server().tts({ text: turn.text, speaker }, { signal });
    await attach(turn, new File([bytesOf(audio.data_b64)], "turn-1.wav"));
    return turns.includes(turn);
  } catch (error) {
    gaveUp(error);
    return false;
  }
}

/** What is said in a clip. Nobody waits for it, so a key that is not there yet is not asked for. */
async function hear({ wav }, signal) {
  if (!isKey($("key").value.trim())) throw new Error("There is no key yet.");
  return (await server().transcribe({ file: wav }, { signal })).text;
}

function bodyNow(soundOf) {
  const model = $("model").value;
  return {
    conversation: conversation(soundOf),
    ...(model === "" ? {} : { model }),
    ...(Object.keys(params).length === 0 ? {} : { params }),
  };
}

/** Gives up what is going on, and begins something else. */
function begin(state) {
  stop();
  showError(null);
  leaving = new AbortController();
  $("state").textContent = state;
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
      $("state").textContent = `Speaker ${speaker}`;
      $("heard").textContent = `Speaker ${speaker}: “${text}”`;
      suggest(clips, meta.heard);
    }
  } catch (error) {
    if (leaving === mine) gaveUp(error);
  }
  endReply(speech);
}

function stop() {
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

async function openCode() {
  if (!$("code").open || code !== null) return;
  code = await import("./code.js");
  const choices = Object.keys(code.KINDS).map((value, index) =>
    h(
      "label",
      {},
      h("input", { type: "radio", name: "kind", value, checked: index === 0, onchange: showCode }),
      value,
    ),
  );
  $("kinds").replaceChildren(h("legend", { className: "aloud" }, "Program"), ...choices);
  showCode();
}

function showCode() {
  if (code === null) return;
  const { value } = document.querySelector("[name=kind]:checked");
  const body = bodyNow(({ name }, index) => name || `turn-${index + 1}.wav`);
  $("program").textContent = code.codeFor(value, location.origin, body);
}

const clicks = {
  add: addTurn,
  speak,
  stop,
  share,
  phonemes: () => showPhonemes($("phonemes").getAttribute("aria-pressed") !== "true"),
  copy: () => copyText($("copy"), $("program").textContent),
  reset: () => {
    drawKnobs(knobs, edited);
    markUnused(knobs, $("model").value);
  },
};
for (const [id, act] of Object.entries(clicks)) $(id).onclick = () => void act();
for (const example of EXAMPLES)
  $("examples").append(
    h("button", { type: "button", onclick: () => void tryExample(example) }, example.name),
  );
for (const [name, kind] of Object.entries(FILES))
  $("save").append(
    h(
      "button",
      { type: "button", "aria-label": `Save as ${name}`, disabled: true, onclick: () => void save(kind) },
      name,
    ),
  );
$("model").onchange = chooseModel;
$("code").ontoggle = openCode;
$("key-form").onsubmit = (event) => {
  event.preventDefault();
  showError(null);
  void connect();
};
// A sound that is dropped beside a turn must not replace the page.
document.ondragover = document.ondrop = (event) => event.preventDefault();
document.onkeydown = (event) => {
  if (event.key === "Escape") stop();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void speak();
};
for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wakeSound, { once: true });
addEventListener("hashchange", readAddress);
hearTurnsBy(hear);
setTurns(START.turns);
drawTurns(["0", "1"], edited);
openTransport();
readAddress();
$("key").value = sessionStorage.getItem("antiphon-key") ?? "";
if ($("key").value !== "") void connect();
