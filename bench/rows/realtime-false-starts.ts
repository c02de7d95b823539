import { join } from "node:path";
import {
  advanceByWindow,
  endpointingOptions,
  INITIAL_ENDPOINTING,
} from "../../src/api/realtime/endpointing.ts";
import { DETECTION_RATE_HZ } from "../../src/core/turn-detection.ts";
import { openNeuralDetector } from "../../src/recognition/turn-detection/neural-detector.ts";
import { debianRecordings } from "../debian-recordings.ts";
import { MADE_MUSIC } from "../hearing/made-music.ts";
import { NOISES } from "../hearing/noises.ts";
import { RECORDED_SOUNDS } from "../hearing/recorded-sounds.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { readClip } from "../read-clip.ts";
import type { Bench, Row } from "../row.ts";

const LENGTH_S = 600;

/** The sounds of `hearing-not-speech`, except people, for ten minutes, with the defaults of `server_vad`. */
export const realtimeFalseStarts: Row = {
  id: "realtime-false-starts",
  what: "turns that begin in ten minutes of noises, typing and music, without anybody's speech",
  goal: "≤ 2",
  async measure(bench) {
    const sounds = await soundsOf(bench);
    const options = endpointingOptions({ type: "server_vad" });
    const detector = openNeuralDetector();
    try {
      const activity = detector.activity.open();
      let [state, starts, samples] = [INITIAL_ENDPOINTING, 0, 0];
      const lengthS = bench.isQuick ? 200 : LENGTH_S;
      for (let at = 0; samples < lengthS * DETECTION_RATE_HZ; at++) {
        const [name, sound] = sounds[at % sounds.length]!;
        samples += sound.length;
        for (const probability of await activity.push(sound.slice())) {
          const step = advanceByWindow(state, probability, options);
          state = step.state;
          const began = step.events.filter(({ type }) => type === "began").length;
          if (began > 0) bench.note(`a turn began in: ${name}`);
          starts += began;
        }
      }
      return {
        measured: `${starts} in ${(samples / DETECTION_RATE_HZ / 60).toFixed(1)} min`,
        isMet: starts <= 2,
      };
    } finally {
      await detector.close();
    }
  },
};

/** In turns, so that no kind comes last. */
async function soundsOf(bench: Bench): Promise<readonly (readonly [string, Float32Array])[]> {
  const made = [...Object.entries(NOISES), ...Object.entries(MADE_MUSIC)].map(
    ([name, make]) => [name, make()] as const,
  );
  try {
    const folder = await debianRecordings("hearing-sounds", RECORDED_SOUNDS, bench.python, bench.note);
    const recorded = await Promise.all(
      RECORDED_SOUNDS.map(
        async ({ name }) => [name, (await readClip(join(folder, `${name}.wav`))).samples] as const,
      ),
    );
    return made.flatMap((sound, at) => [sound, ...recorded.slice(at, at + 1)]);
  } catch (error) {
    if (!(error instanceof NotMeasuredError)) throw error;
    bench.note(error.message);
    return made;
  }
}
