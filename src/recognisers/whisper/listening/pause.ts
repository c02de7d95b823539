import { levelsDb } from "./level.ts";
import { WHISPER_RATE_HZ } from "./rate.ts";

/** Between which a long clip is cut, in frames of 20 ms. */
const EARLIEST = 20 * 50;
const LATEST = 29 * 50;
/** The longest stretch whose mean level is compared. */
const STRETCH = 15;

/**
 * Where to cut a clip that goes on after 30 s: the middle of the quietest 0.3 s between 20 and 29 s, of those as quiet
 * the last.
 *
 * @param samples at 16 kHz, 29 s or more
 * @returns in samples
 */
export function pauseIn(samples: Float32Array): number {
  const powers = Array.from(levelsDb(samples), (db) => 10 ** (db / 10));
  let quietest = EARLIEST;
  let min = Number.POSITIVE_INFINITY;
  for (let at = EARLIEST; at + STRETCH <= Math.min(LATEST, powers.length); at++) {
    const power = powers.slice(at, at + STRETCH).reduce((sum, value) => sum + value, 0);
    if (power <= min) [quietest, min] = [at, power];
  }
  return Math.round((quietest + STRETCH / 2) * (WHISPER_RATE_HZ / 50));
}
