import { joined } from "../../src/audio/joined.ts";
import { DETECTION_RATE_HZ } from "../../src/model/turn-detection.ts";
import { openNeuralDetector } from "../../src/turn-detection/neural-detector.ts";
import { humanTurns } from "../realtime/people.ts";
import type { Row } from "../row.ts";

/** As clients send it. */
const CHUNK = DETECTION_RATE_HZ / 50;

export const realtimeEar: Row = {
  id: "realtime-ear",
  what: "looking for speech: processor time a second of sound, in pieces of 20 ms; judging whether a turn is over: time a turn",
  goal: "≤ 5 ms; –",
  async measure(bench) {
    const turns = await humanTurns(bench);
    const speech = joined(turns.map(({ samples }) => samples)).slice(
      0,
      (bench.isQuick ? 30 : 120) * DETECTION_RATE_HZ,
    );
    const detector = openNeuralDetector();
    try {
      const activity = detector.activity.open();
      await activity.push(speech.slice(0, DETECTION_RATE_HZ));
      const began = process.cpuUsage();
      for (let at = 0; at < speech.length; at += CHUNK) await activity.push(speech.slice(at, at + CHUNK));
      const { user, system } = process.cpuUsage(began);
      const msPerS = (user + system) / 1_000 / (speech.length / DETECTION_RATE_HZ);
      const { signal } = new AbortController();
      const judged = turns.slice(0, bench.isQuick ? 5 : 20);
      await detector.judge.judge(judged[0]!.samples.slice(), signal);
      const beganMs = performance.now();
      for (const { samples } of judged) await detector.judge.judge(samples.slice(), signal);
      const judgeMs = (performance.now() - beganMs) / judged.length;
      return { measured: `${msPerS.toFixed(1)} ms; ${judgeMs.toFixed(0)} ms`, isMet: msPerS <= 5 };
    } finally {
      await detector.close();
    }
  },
};
