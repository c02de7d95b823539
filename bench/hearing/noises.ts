import { drawn, limited, mixed, noise, RATE_HZ, randomFor, scaledToRms } from "./sounds.ts";
import { companded } from "./telephone.ts";

const TAU = 2 * Math.PI;
const LENGTH_S = 5;

/** Noises and signals without anybody's voice: their names, and 5 s of each (30 where it says so). */
export const NOISES: Readonly<Record<string, () => Float32Array>> = {
  silence: () => drawn(LENGTH_S, () => 0),
  "silence of 30 s": () => drawn(30, () => 0),
  "faint hiss": () => hiss("faint hiss", 0, 0.0003),
  "a click in silence": () => drawn(LENGTH_S, (t) => (t >= 2 && t < 2.002 ? 0.8 : 0)),
  "white noise": () => hiss("white", 0, 0.1),
  "pink noise": () => hiss("pink", 3, 0.1),
  "brown noise": () => hiss("brown", 6, 0.1),
  "loud white noise of 30 s": () => scaledToRms(noise(30, 0, randomFor("loud")), 0.3),
  "noise that swells": () => shaped(hiss("swell", 3, 0.2), (t) => Math.sin((Math.PI * t) / LENGTH_S) ** 2),
  "gusts of wind": () => shaped(hiss("wind", 6, 0.2), (t) => Math.sin(TAU * 0.35 * t) ** 4 + 0.1),
  surf: () => shaped(hiss("surf", 3, 0.2), (t) => 0.1 + Math.abs(Math.sin(TAU * 0.12 * t)) ** 3),
  "noise in syllables": () => shaped(hiss("syllables", 3, 0.2), (t) => Math.sin(Math.PI * 4 * t) ** 2),
  breathing: () => shaped(hiss("breath", 3, 0.05), (t) => Math.max(0, Math.sin(TAU * 0.4 * t)) ** 2),
  rain: () => mixed([hiss("rain", 0, 0.02), bursts("drops", 60, 0.004, 0.1)]),
  applause: () => bursts("applause", 120, 0.012, 0.4),
  crackle: () => bursts("crackle", 30, 0.001, 0.5),
  "typing on a keyboard": () => bursts("keys", 7, 0.02, 0.3),
  "knocks on a door": () => strokes([0.5, 0.8, 1.1, 2.8, 3.1, 3.4], 0.09, 140),
  footsteps: () => strokes(every(0.55), 0.06, 90),
  coughs: () => coughs(),
  "an engine": () =>
    drawn(LENGTH_S, (t) => 0.2 * Math.tanh(4 * Math.sin(TAU * (28 * t + 0.4 * Math.sin(3 * t))))),
  "a steady tone": () => drawn(LENGTH_S, (t) => 0.3 * Math.sin(TAU * 440 * t)),
  beeps: () => drawn(LENGTH_S, (t) => (t % 1 < 0.3 ? 0.3 * Math.sin(TAU * 1_000 * t) : 0)),
  "a sweep": () => drawn(LENGTH_S, (t) => 0.3 * Math.sin(TAU * (100 * t + 390 * t * t))),
  "a siren": () => drawn(LENGTH_S, (t) => 0.3 * Math.sin(TAU * 800 * t + 260 * Math.sin(TAU * 0.5 * t))),
  "dialled digits": () => dialled([1, 5, 9, 0, 2, 7, 3, 4, 8, 6]),
  "the dial tone": () => drawn(LENGTH_S, pair(350, 440)),
  "the ringing tone": () => drawn(LENGTH_S, (t) => (t % 3 < 1.5 ? pair(440, 480)(t) : 0)),
  "the busy tone": () => drawn(LENGTH_S, (t) => (t % 1 < 0.5 ? pair(480, 620)(t) : 0)),
  "a modem": () => modem(),
  "mains hum": () => drawn(LENGTH_S, (t) => 0.2 * hum(t)),
  "a telephone line's hum and hiss": () => {
    const line = hiss("line", 0, 0.01);
    return line.map((value, at) => companded(value + 0.03 * hum(at / RATE_HZ)));
  },
  "the same with crackle": () => {
    const clicks = bursts("line crackle", 4, 0.002, 0.3);
    const line = hiss("worse line", 0, 0.02);
    return line.map((value, at) => companded(value + clicks[at]! + 0.03 * hum(at / RATE_HZ)));
  },
};

function hiss(name: string, fallDb: 0 | 3 | 6, rms: number): Float32Array {
  return limited(scaledToRms(noise(LENGTH_S, fallDb, randomFor(name)), rms));
}

function shaped(samples: Float32Array, gainAt: (timeS: number) => number): Float32Array {
  return limited(samples.map((value, at) => value * gainAt(at / RATE_HZ)));
}

/** Short noises at random moments, that many a second, of that length. */
function bursts(name: string, perS: number, lengthS: number, gain: number): Float32Array {
  const random = randomFor(name);
  const out = drawn(LENGTH_S, () => 0);
  for (let count = 0; count < perS * LENGTH_S; count++) {
    const from = Math.floor(random.uniform() * out.length);
    const own = gain * (0.3 + 0.7 * random.uniform());
    for (let at = from; at < Math.min(out.length, from + 6 * lengthS * RATE_HZ); at++) {
      out[at]! += own * (2 * random.uniform() - 1) * Math.exp(-(at - from) / (lengthS * RATE_HZ));
    }
  }
  return limited(out);
}

/** Dull strokes, each a tone that dies away. */
function strokes(atS: readonly number[], decayS: number, hz: number): Float32Array {
  return drawn(LENGTH_S, (t) => {
    const since = t - (atS.findLast((at) => at <= t) ?? Number.POSITIVE_INFINITY);
    return since >= 0 ? 0.6 * Math.exp(-since / decayS) * Math.sin(TAU * hz * since) : 0;
  });
}

function every(stepS: number): number[] {
  return Array.from({ length: Math.floor(LENGTH_S / stepS) }, (_, at) => 0.1 + at * stepS);
}

function coughs(): Float32Array {
  const burst = [0.6, 1.0, 3.2, 3.55];
  return shaped(hiss("cough", 3, 0.2), (t) => {
    const since = t - (burst.findLast((at) => at <= t) ?? Number.POSITIVE_INFINITY);
    return since >= 0 ? 2 * Math.exp(-since / 0.07) : 0;
  });
}

function pair(firstHz: number, secondHz: number): (timeS: number) => number {
  return (t) => 0.15 * (Math.sin(TAU * firstHz * t) + Math.sin(TAU * secondHz * t));
}

const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1_209, 1_336, 1_477];

function dialled(digits: readonly number[]): Float32Array {
  return drawn(LENGTH_S, (t) => {
    const digit = digits[Math.floor(t / 0.5)] ?? 0;
    const key = digit === 0 ? 10 : digit - 1;
    return t % 0.5 < 0.2 ? pair(ROWS_HZ[Math.floor(key / 3)]!, COLUMNS_HZ[key % 3]!)(t) : 0;
  });
}

/** 300 bits a second between 1,070 and 1,270 Hz. */
function modem(): Float32Array {
  const random = randomFor("modem");
  const bits = Array.from({ length: 300 * LENGTH_S }, () => random.uniform() < 0.5);
  let phase = 0;
  return drawn(LENGTH_S, (t) => {
    phase += (TAU * (bits[Math.floor(t * 300)] ? 1_270 : 1_070)) / RATE_HZ;
    return 0.2 * Math.sin(phase);
  });
}

/** 50 Hz and what is above it. */
function hum(t: number): number {
  return [1, 2, 3, 5, 7].reduce((sum, part) => sum + Math.sin(TAU * 50 * part * t + part) / part, 0);
}
