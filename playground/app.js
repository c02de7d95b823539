import { Antiphon, AntiphonError, encodeWav } from "./client/antiphon.js";
import { Player, SAMPLE_RATE_HZ, wakeSound } from "./client/player.js";
import { curlFor } from "./curl.js";
import { $, h, rows, showError } from "./dom.js";
import { drawKnobs, params } from "./knobs.js";
import { encodeMp3 } from "./mp3.js";
import {
  addTurn,
  clipsNow,
  conversation,
  drawTurns,
  hearAgain,
  hearTurnsBy,
  suggest,
  turns,
} from "./turns.js";
import { drawWave, peaksOf } from "./wave.js";

const PATH = "/v1/converse/stream";
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
/** The reply that is heard, or was last. */
let reply = null;

const isKey = (key) => /^[\x21-\x7e]+$/.test(key);

/** The server, by the key that is there now. A failure is shown at once, so nothing is asked for again. */
function server() {
  const apiKey = $("key").value.trim();
  if (isKey(apiKey)) return new Antiphon({ baseUrl: "", apiKey, maxRetries: 0 });
  $("key").focus();
  throw new Error("Paste an API key first: the server printed one at its first start.");
}

/** What is shown of a failure. */
function inPlainWords(error) {
  if (!(error instanceof AntiphonError)) return error;
  const { status, type, message: detail, requestId } = error;
  if (type === "timeout_error") return new Error("The server has not answered for two minutes.");
  if (status === null) return new Error("The server cannot be reached. Is it running?");
  const plain = PLAIN_WORDS[status] ?? "Something went wrong in the server.";
  return Object.assign(new Error(plain), { detail, requestId });
}

async function connect() {
  showError(null);
  try {
    const antiphon = server();
    const [info, cards] = await Promise.all([antiphon.info(), antiphon.models()]);
    sessionStorage.setItem("antiphon-key", $("key").value.trim());
    [knobs, models] = [info.param_schema, cards];
    const named = models.map((card) =>
      h("option", { value: card.id, selected: card.default }, card.display_name),
    );
    $("model").replaceChildren(...named);
    $("model").disabled = $("reset").hidden = false;
    $("key-state").textContent = "Connected. The key is kept in this tab only.";
    drawKnobs(knobs, showCurl);
    hearAgain();
    chooseModel();
  } catch (error) {
    $("key-state").textContent = "Not connected.";
    showError(inPlainWords(error));
  }
}

/** What is said in a clip. Nobody waits for it, so a key that is not there yet is not asked for. */
async function hear({ wav }, signal) {
  if (!isKey($("key").value.trim())) throw new Error("There is no key yet.");
  return (await server().transcribe({ file: wav }, { signal })).text;
}

function chooseModel() {
  const { description, speakers } = models.find(({ id }) => id === $("model").value);
  $("model-description").textContent = description;
  drawTurns(speakers);
}

function bodyNow() {
  const model = $("model").value;
  return {
    conversation: conversation(),
    ...(model === "" ? {} : { model }),
    ...(Object.keys(params).length === 0 ? {} : { params }),
  };
}

function showCurl() {
  const fileNames = turns.map(({ audio }) => audio?.name);
  $("curl").textContent = curlFor(location.origin + PATH, bodyNow(), fileNames);
  $("copy").textContent = "Copy";
}

async function speak() {
  stop();
  showError(null);
  const { voice } = $("turns").lastChild.dataset;
  const mine = { voice, frames: [], peaks: [], seconds: 0, meta: {}, leaving: new AbortController() };
  const clips = clipsNow();
  reply = mine;
  listen(mine);
  $("state").textContent = "Waiting for the first frame…";
  $("download").disabled = true;
  for (const id of ["figures", "meta"]) $(id).replaceChildren();
  mine.startedMs = performance.now();
  try {
    let end = null;
    for await (const event of server().stream(bodyNow(), { signal: mine.leaving.signal })) {
      if (event.event === "audio") take(mine, event.pcm);
      else if (event.event === "meta") mine.meta = event.data;
      else end = event.data;
    }
    $("state").textContent = `Speaker ${end.speaker}: “${end.text}”`;
    $("meta").replaceChildren(...rows({ ...end.usage, ...mine.meta, ...end.meta }));
    suggest(clips, end.meta.heard);
  } catch (error) {
    if (reply !== mine) return;
    $("state").textContent = error.name === "AbortError" ? "Stopped." : "";
    if (error.name !== "AbortError") showError(inPlainWords(error));
  }
  mine.tookMs = performance.now() - mine.startedMs;
  mine.player.complete();
  $("download").disabled = mine.frames.length === 0;
}

function take(mine, pcm) {
  mine.firstMs ??= performance.now() - mine.startedMs;
  if (mine.frames.length === 0) $("state").textContent = "Speaking…";
  mine.frames.push(pcm);
  mine.peaks.push(...peaksOf(pcm));
  mine.seconds += pcm.length / SAMPLE_RATE_HZ;
  mine.player.add(pcm);
}

/** Gives a reply a player. */
function listen(mine) {
  mine.player = new Player({
    onEnd() {
      mine.isHeard = true;
      $("stop").disabled = true;
      $("replay").disabled = mine.frames.length === 0;
    },
  });
  follow(mine);
}

/** Draws a reply while it is heard. */
function follow(mine) {
  mine.isHeard = false;
  $("stop").disabled = false;
  $("replay").disabled = true;
  const draw = () => {
    if (reply !== mine) return;
    drawReply(mine);
    if (!mine.isHeard) requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
}

function drawReply({ firstMs, tookMs, seconds, peaks, voice, player, isHeard }) {
  drawWave($("wave"), peaks, isHeard ? seconds : player.positionS, voice);
  if (firstMs === undefined) return;
  const figures = {
    "First audio": `${firstMs.toFixed(0)} ms`,
    Length: `${seconds.toFixed(2)} s`,
    "Against real time": tookMs === undefined ? "…" : `${((1_000 * seconds) / tookMs).toFixed(0)} ×`,
    Underruns: player.underruns,
  };
  $("figures").replaceChildren(...rows(figures));
}

function stop() {
  reply?.leaving.abort();
  reply?.player.stop();
}

function replay() {
  follow(reply);
  reply.player.resume();
}

async function download() {
  const kind = $("kind").value;
  const wav = () => new Blob([encodeWav(reply.frames)], { type: "audio/wav" });
  const file = await (kind === "mp3" ? encodeMp3(reply.frames, SAMPLE_RATE_HZ) : wav());
  const href = URL.createObjectURL(file);
  h("a", { href, download: `antiphon.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

async function copy() {
  await navigator.clipboard.writeText($("curl").textContent);
  $("copy").textContent = "Copied";
}

const clicks = { add: addTurn, speak, stop, replay, download, copy, reset: () => drawKnobs(knobs, showCurl) };
for (const [id, act] of Object.entries(clicks)) $(id).onclick = () => void act();
$("model").onchange = chooseModel;
$("key-form").onsubmit = (event) => {
  event.preventDefault();
  void connect();
};
// A sound that is dropped beside a turn must not replace the page.
document.ondragover = document.ondrop = (event) => event.preventDefault();
document.onkeydown = (event) => {
  if (event.key === "Escape") stop();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void speak();
};
for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wakeSound, { once: true });
addEventListener("resize", () => reply && drawReply(reply));
$("delivery").open = matchMedia("(min-width: 60rem)").matches;
$("key").value = sessionStorage.getItem("antiphon-key") ?? "";
hearTurnsBy(hear);
drawTurns(["0", "1"], showCurl);
if ($("key").value !== "") void connect();
