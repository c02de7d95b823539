import type { TurnJudge, VoiceActivity } from "../../../src/core/turn-detection.ts";
import { TurnDetectionError } from "../../../src/core/turn-detection.ts";
import { levelDetector } from "../../../src/recognition/turn-detection/level-detector.ts";
import type { NeuralDetector } from "../../../src/recognition/turn-detection/neural-detector.ts";

/** Takes what is loud for speech, and judges turns as it is told; fails where it is told to. */
export class ScriptedDetector implements NeuralDetector {
  /** What the judge answers. */
  finished = 0;
  readonly judged: Float32Array[] = [];
  /** Pieces of sound that are refused from now on. */
  failures = 0;
  resets = 0;
  /** Pieces that were heard, and are heard at once at most. */
  pushes = 0;
  mostAtOnce = 0;
  #atOnce = 0;

  readonly activity = {
    open: (): VoiceActivity => this.#open(),
    async close() {},
  };

  readonly judge: TurnJudge = {
    judge: async (turn, signal) => {
      signal.throwIfAborted();
      this.judged.push(turn);
      return this.finished;
    },
    async close() {},
  };

  #open(): VoiceActivity {
    const voice = levelDetector().open();
    return {
      push: async (samples) => {
        this.pushes += 1;
        this.#atOnce += 1;
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
        try {
          const heard = await voice.push(samples);
          if (this.failures === 0) return heard;
          this.failures -= 1;
          throw new TurnDetectionError("the scripted detector was told to fail");
        } finally {
          this.#atOnce -= 1;
        }
      },
      reset: () => {
        this.resets += 1;
        voice.reset();
      },
    };
  }

  async close(): Promise<void> {}
}
