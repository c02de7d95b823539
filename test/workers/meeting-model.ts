import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import type { SpeechModel } from "../../src/core/speech-model.ts";

/** A model that yields a frame only when as many utterances as its text says have requested one. */
export async function createModel(): Promise<SpeechModel> {
  const asked: (() => void)[] = [];
  return {
    async *speak(script, signal) {
      let together = 0;
      for await (const piece of script.text) together = Number(piece);
      for (;;) {
        signal.throwIfAborted();
        await new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          asked.push(resolve);
          if (asked.length >= together) for (const give of asked.splice(0)) give();
        });
        signal.throwIfAborted();
        yield { samples: new Float32Array(FRAME_SAMPLES) };
      }
    },
    async close() {},
  };
}
