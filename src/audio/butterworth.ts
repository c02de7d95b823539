import { SAMPLE_RATE_HZ } from "./format.ts";

/**
 * Takes out what lies above a frequency, as a telephone does, and holds nothing back (Butterworth of the eighth order by the
 * bilinear transform; Oppenheim & Schafer, "Discrete-Time Signal Processing", 7.2). At 1.3 times the frequency it is 20 dB
 * down. What it gives goes on from piece to piece.
 */
export class LowPass {
  readonly #sections: readonly Section[];

  /** @param cutoffHz where it is 3 dB down; below 12 kHz */
  constructor(cutoffHz: number) {
    const warped = Math.tan((Math.PI * cutoffHz) / SAMPLE_RATE_HZ);
    this.#sections = Array.from({ length: ORDER / 2 }, (_, at) => {
      const damping = 2 * Math.sin((Math.PI * (2 * at + 1)) / (2 * ORDER));
      const scale = 1 / (1 + damping * warped + warped ** 2);
      return {
        gain: warped ** 2 * scale,
        feedback: [2 * (warped ** 2 - 1) * scale, (1 - damping * warped + warped ** 2) * scale] as const,
        memory: new Float64Array(4),
      };
    });
  }

  /** Filters the samples where they are. */
  apply(samples: Float32Array): void {
    for (const { gain, feedback, memory } of this.#sections) {
      let x1 = memory[0]!;
      let x2 = memory[1]!;
      let y1 = memory[2]!;
      let y2 = memory[3]!;
      for (let at = 0; at < samples.length; at++) {
        const x = samples[at]!;
        const y = gain * (x + 2 * x1 + x2) - feedback[0] * y1 - feedback[1] * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        samples[at] = y;
      }
      memory.set([x1, x2, y1, y2]);
    }
  }
}

/** Half as many filters of the second order. */
const ORDER = 8;

interface Section {
  readonly gain: number;
  /** Of the output one and two samples ago. */
  readonly feedback: readonly [number, number];
  /** Input and output one and two samples ago. */
  readonly memory: Float64Array;
}
