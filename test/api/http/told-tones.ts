import type { Script } from "../../../src/core/script.ts";
import type { LoadableCheckpoint } from "../../../src/models/checkpoint-cache.ts";
import { createToneModel } from "../../core/tone-model.ts";

/** Tones in the embedded voice's place. @param scripts gets all that they are asked to speak */
export function toldTones(scripts: Script[]): LoadableCheckpoint {
  return {
    name: "heart",
    memoryBytes: 1,
    async load() {
      const tone = await createToneModel();
      return {
        speak(script, signal) {
          scripts.push(script);
          return tone.speak(script, signal);
        },
        close: () => tone.close(),
      };
    },
  };
}
