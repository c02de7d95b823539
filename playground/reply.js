// The reply that plays: its player, words, waveform and figures.
import { Player, SAMPLE_RATE_HZ } from "./client/player.js";
import { $, rows } from "./dom.js";
import { drawFace } from "./face.js";
import { addWords, beginWords, finishWords, lightWord, pickWords } from "./words.js";

const PEAK_SAMPLES = 480;
const PEAK_S = PEAK_SAMPLES / SAMPLE_RATE_HZ;
const BAR_PIXELS = 5;

/** The current or last reply; null before the first. */
export let reply = null;
let isDrawing = false;
/** Shows a viseme on the portrait. */
let showMouth = () => {};
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Begins a reply: `colour` is one of the two, `voice` has the portrait, `given` is the text if it is known. */
export function beginReply(colour, voice, given) {
  const mine = { frames: [], peaks: [], visemes: [], phonemes: [], text: given, words: [], meta: {} };
  mine.player = new Player({ onEnd: () => reply === mine && showFigures() });
  mine.startedMs = performance.now();
  reply = mine;
  $("reply").dataset.voice = colour;
  const { svg, show } = drawFace(voice);
  $("face").replaceChildren(svg);
  showMouth = calm.matches ? () => {} : show;
  $("meta").replaceChildren();
  beginWords(given);
  showFigures();
  follow();
  return mine;
}

/** Takes an event of the reply's stream. */
export function take(mine, { event, pcm, data }) {
  if (event === "meta") mine.meta = data;
  if (event === "audio") takeFrame(mine, pcm, data);
  if (event === "end") {
    mine.text = data.text;
    mine.words = data.meta.words?.filter(isWord) ?? mine.words;
    finishWords(mine.text, mine.words, mine.phonemes);
    const { words, visemes, phonemes, ...others } = data.meta;
    $("meta").replaceChildren(...rows({ ...data.usage, ...mine.meta, ...others }));
    const hasPhonemes = mine.phonemes.length > 0;
    $("phonemes").disabled = !hasPhonemes;
    $("phonemes").title = hasPhonemes ? "" : "This model reports no phonemes.";
  }
}

/** Excludes the named places of SSML. */
const isWord = ({ length }) => length > 0;

function takeFrame(mine, pcm, { words: told = [], visemes = [], phonemes = [] }) {
  const words = told.filter(isWord);
  mine.frames.push(pcm);
  mine.peaks.push(...peaksOf(pcm));
  mine.words.push(...words);
  mine.visemes.push(...visemes);
  mine.phonemes.push(...phonemes);
  addWords(words);
  mine.player.add(pcm);
  if (mine.firstMs !== undefined) return;
  mine.firstMs = performance.now() - mine.startedMs;
  showFigures();
}

/** Ends the reply: nothing more will arrive. */
export function endReply(mine) {
  mine.tookMs = performance.now() - mine.startedMs;
  mine.player.complete();
  showFigures();
}

function showFigures() {
  const { firstMs, tookMs, player } = reply;
  for (const button of $("save").children) button.disabled = firstMs === undefined || tookMs === undefined;
  if (firstMs === undefined) return $("figures").replaceChildren();
  const figures = {
    "First audio": `${firstMs.toFixed(0)} ms`,
    Speed: tookMs === undefined ? "…" : `${((1_000 * player.durationS) / tookMs).toFixed(0)} × real time`,
    Gaps: player.underruns,
  };
  $("figures").replaceChildren(...rows(figures));
}

/** Draws the reply while it plays. */
function follow() {
  if (isDrawing) return;
  isDrawing = true;
  const draw = () => {
    drawReply();
    isDrawing = reply.player.state === "playing";
    if (isDrawing) requestAnimationFrame(draw);
  };
  draw();
}

/** Draws the current position of the reply. */
export function drawReply() {
  if (reply === null) return drawWave($("wave"), [], 0, 3);
  const { player, peaks, visemes, tookMs } = reply;
  const { positionS: atS, durationS, state } = player;
  // An unfinished reply does not fill the width.
  const lengthS = tookMs === undefined ? Math.max(durationS, 3) : durationS;
  drawWave($("wave"), peaks, atS, lengthS);
  const place = $("place");
  place.max = lengthS;
  place.value = atS;
  const clock = `${atS.toFixed(1)} of ${durationS.toFixed(1)} seconds`;
  if ($("clock").textContent !== clock) {
    $("clock").textContent = clock;
    place.setAttribute("aria-valuetext", clock);
  }
  lightWord(durationS > 0 ? atS : -1);
  const isPlaying = state === "playing";
  $("play").textContent = isPlaying && durationS > 0 ? "Pause" : "Play";
  $("play").classList.toggle("playing", isPlaying);
  $("play").disabled = place.disabled = durationS === 0;
  $("stop").disabled = !isPlaying && tookMs !== undefined;
  showMouth(visemes.findLast(({ start }) => start <= atS)?.viseme, isPlaying);
}

/** Plays, from a second where one is given. */
function play(fromS) {
  if (fromS !== undefined) reply.player.seek(fromS);
  reply.player.resume();
  follow();
}

/** Wires the scrubber, the words and the button that plays. */
export function openTransport() {
  const place = $("place");
  let goesOn = false;
  // Playback pauses while the slider moves.
  place.oninput = () => {
    const { player } = reply;
    goesOn ||= player.state === "playing";
    player.pause();
    player.seek(place.valueAsNumber);
    drawReply();
  };
  place.onchange = () => {
    if (goesOn) play();
    goesOn = false;
  };
  $("play").onclick = () => {
    if (reply.player.state === "playing") reply.player.pause();
    else play();
    drawReply();
  };
  pickWords(play);
  addEventListener("resize", drawReply);
  matchMedia("(prefers-color-scheme: dark)").onchange = drawReply;
  drawReply();
}

/** Returns the peaks of a frame, 0 to 1, one for every 20 ms. */
function peaksOf(pcm) {
  const peaks = [];
  for (let at = 0; at < pcm.length; at += PEAK_SAMPLES) {
    peaks.push(
      pcm.subarray(at, at + PEAK_SAMPLES).reduce((peak, x) => Math.max(peak, Math.abs(x)), 0) / 32_768,
    );
  }
  return peaks;
}

/** Draws peaks as bars over the whole width, `lengthS`. Bars before `heardS` have the canvas's colour. */
function drawWave(canvas, peaks, heardS, lengthS) {
  const { clientWidth: width, clientHeight: height } = canvas;
  Object.assign(canvas, { width: width * devicePixelRatio, height: height * devicePixelRatio });
  const brush = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const quiet = style.getPropertyValue("--unheard");
  brush.scale(devicePixelRatio, devicePixelRatio);
  const bars = Math.floor(width / BAR_PIXELS);
  const perBar = lengthS / PEAK_S / bars;
  const loudest = Math.max(0.2, ...peaks);
  for (let i = 0; i < bars; i++) {
    const from = Math.floor(i * perBar);
    const range = peaks.slice(from, Math.max(from + 1, Math.floor((i + 1) * perBar)));
    const bar = Math.max(3, (height * Math.max(0, ...range)) / loudest);
    brush.fillStyle = range.length > 0 && i * perBar * PEAK_S < heardS ? style.color : quiet;
    brush.beginPath();
    brush.roundRect(BAR_PIXELS * i, (height - bar) / 2, 3, bar, 1.5);
    brush.fill();
  }
}
