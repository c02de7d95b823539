import { workerData } from "node:worker_threads";
import { answerCalls } from "../../../src/workers/calls/answer-calls.ts";

/** A thread that dies, hangs, fails or transcribes by the number of samples. */
const { cells } = workerData as { readonly cells: Int32Array };
Atomics.add(cells, 0, 1);

answerCalls(
  {
    open: () => ({ name: "odd", languages: ["en", "jw"] }),
    transcribe({ samples }: { readonly samples: Float32Array }) {
      if (samples.length === 1) process.exit(3);
      if (samples.length === 2) Atomics.wait(cells, 1, 0);
      if (samples.length === 3) throw new Error("/secret/path: what somebody said");
      const one = { startS: 0, endS: 1, text: "Well.", words: [], meanLogProbability: -1 };
      const whole = { transcribedS: samples.length / 16_000, languageProbability: 1, speechProbability: 1 };
      return { ...whole, language: "jw", logProbabilities: [-1], segments: [one] };
    },
  },
  (thrown) => ({ message: (thrown as Error).message, isOfFiles: false }),
);
