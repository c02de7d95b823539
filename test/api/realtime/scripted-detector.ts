import type { TurnJudge, VoiceActivity } from "../../../src/core/turn-detection.ts";
import { TurnDetectionError } from "../../../src/core/turn-detection.ts";
import { levelDetector } from "../../../src/recognition/turn-detection/level-detector.ts";
import type { NeuralDetector } from "../../../src/recognition/turn-detection/neural-detector.ts";

/** Detects speech by its level, and judges turns and fails as a test sets it. */
export class ScriptedDetector implements NeuralDetector {
  /** The verdict of the judge. */
  finished = 0;
  readonly judged: Float32Array[] = [];
  /** Number of pushes that fail from now on. */
  failures = 0;
  opened = 0;
  resets = 0;
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
    this.opened += 1;
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
          throw new TurnDetectionError("scripted");
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
