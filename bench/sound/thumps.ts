import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { percentile } from "../../src/engines/following/analysis/statistics.ts";

/** A sentence's loudest moment. */
export interface Thump {
  /** Its level above what nine tenths of the sentence's sound stay below. */
  readonly overDb: number;
  readonly atS: number;
}

/** More than this over the rest is a thump. */
export const THUMP_DB = 7;

/** Looks at blocks of 25 ms that overlap by half; what is 45 dB below the loudest is no sound. */
export function loudestIn(samples: Float32Array): Thump {
  const levelsDb: number[] = [];
  for (let at = 0; at + BLOCK_SAMPLES <= samples.length; at += STEP_SAMPLES) {
    let energy = 0;
    for (let i = at; i < at + BLOCK_SAMPLES; i++) energy += samples[i]! * samples[i]!;
    levelsDb.push(10 * Math.log10(energy / BLOCK_SAMPLES + 1e-12));
  }
  const loudestDb = Math.max(...levelsDb);
  const sound = levelsDb.filter((levelDb) => levelDb > loudestDb - SOUND_DB);
  return {
    overDb: loudestDb - percentile(sound, 0.9),
    atS: (levelsDb.indexOf(loudestDb) * STEP_SAMPLES) / SAMPLE_RATE_HZ,
  };
}

const BLOCK_SAMPLES = 0.025 * SAMPLE_RATE_HZ;
const STEP_SAMPLES = BLOCK_SAMPLES / 2;
const SOUND_DB = 45;
