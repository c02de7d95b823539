import { SAMPLE_RATE_HZ } from "./client/player.js";

const PEAK_SAMPLES = 480;
const PEAK_S = PEAK_SAMPLES / SAMPLE_RATE_HZ;
const BAR_PIXELS = 5;

/** The peaks of a frame, one for every 20 ms, 0 to 1. */
export function peaksOf(pcm) {
  const peaks = [];
  for (let at = 0; at < pcm.length; at += PEAK_SAMPLES) {
    peaks.push(
      pcm.subarray(at, at + PEAK_SAMPLES).reduce((peak, x) => Math.max(peak, Math.abs(x)), 0) / 32_768,
    );
  }
  return peaks;
}

/** Draws peaks as bars over the whole width, which is `lengthS`; what has been heard is in the canvas's own colour. */
export function drawWave(canvas, peaks, heardS, lengthS) {
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
