import { joinSamples } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import { readClip } from "../read-clip.ts";
import type { Renderings } from "../renderings.ts";
import { limited, mixed, RATE_HZ, scaledToRms } from "./sounds.ts";

/** One voice becomes several when it is played faster or slower, with its pitch. */
const SPEEDS = [0.84, 0.9, 0.96, 1.04, 1.12, 1.2];
const LENGTH_S = 8;

/** Many people at once, at one level, and people backwards: their names, and 8 s of each. No word can be followed. */
export async function babble(renderings: Renderings): Promise<Readonly<Record<string, Float32Array>>> {
  const talk: Float32Array[][] = [];
  for (const speaker of ["0", "1"]) {
    const clips = await Promise.all((await renderings.by(speaker)).map(({ path }) => readClip(path)));
    talk.push(clips.map(({ samples, sampleRateHz }) => resample(samples, sampleRateHz, RATE_HZ)));
  }
  /** Whoever talks, from another sentence on each. */
  const talker = (index: number): Float32Array => {
    const own = talk[index % 2]!;
    const speed = SPEEDS[Math.floor(index / 2) % SPEEDS.length]!;
    const sentences = Array.from({ length: 6 }, (_, at) => own[(index * 5 + at) % own.length]!);
    const faster = resample(joinSamples(sentences), Math.round(RATE_HZ * speed), RATE_HZ);
    const from = (index % 5) * 0.3 * RATE_HZ;
    return scaledToRms(faster.slice(from, from + LENGTH_S * RATE_HZ), 0.03);
  };
  const people = (count: number, first = 0): Float32Array =>
    mixed(Array.from({ length: count }, (_, at) => talker(first + at)));
  const backwards = (samples: Float32Array): Float32Array => limited(samples.slice().reverse());
  return {
    "12 people": people(12),
    "12 other people": people(12, 12),
    "16 people": people(16, 3),
    "24 people": people(24),
    "48 people": people(48),
    "12 people backwards": backwards(people(12)),
    "4 people backwards": backwards(people(4)),
    "speaker 0 backwards": backwards(scaledToRms(talker(4), 0.1)),
    "speaker 1 backwards": backwards(scaledToRms(talker(5), 0.1)),
  };
}
