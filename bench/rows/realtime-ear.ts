import { setImmediate as nextTurn } from "node:timers/promises";
import { SessionRunner } from "../../src/api/realtime/session-runner.ts";
import { defaultSettings } from "../../src/api/realtime/session-settings.ts";
import { joinSamples, toPcm16 } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import { readClientEvent } from "../../src/contract/realtime/client-events.ts";
import type { Clip } from "../../src/core/conversation.ts";
import type { Transcript } from "../../src/core/recogniser.ts";
import { EventLoopShare } from "../../src/limits/event-loop-budget.ts";
import { KeyedSemaphore } from "../../src/limits/keyed-semaphore.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";
import {
  type NeuralDetector,
  openNeuralDetector,
} from "../../src/recognition/turn-detection/neural-detector.ts";
import type { SpeechService } from "../../src/serving/reply/speech-service.ts";
import { humanTurns } from "../realtime/people.ts";
import type { Row } from "../row.ts";

const RATE_HZ = 24_000;
/** As clients send it. */
const CHUNK = RATE_HZ / 50;
const PAUSE_S = 0.5;
/** Chunks: 4 s. */
const WARM_UP = 200;

const NO_WORK = async (): Promise<void> => {};
const NOTHING: Transcript = {
  text: "",
  language: null,
  languageProbability: null,
  speechProbability: null,
  meanLogProbability: null,
  segments: [],
  transcribedS: 0,
};

/**
 * A session without a connection is given 32 recordings in events of 20 ms as fast as it takes them; every
 * pause counts as an end. User and system time from the parsing on. Then smart-turn judges 20 turns.
 */
export const realtimeEar: Row = {
  id: "realtime-ear",
  what: "a session that listens to people with half a second between turns: processor time a second of sound, from the client's event to the end of a turn, without judging and recognising; judging whether a turn is over: time a turn",
  goal: "≤ 5 ms; –",
  async measure(bench) {
    const turns = await humanTurns(bench);
    const detector = openNeuralDetector();
    try {
      const msPerS = await listen(detector, turns.slice(0, bench.isQuick ? 8 : 32));
      const { signal } = new AbortController();
      const judged = turns.slice(0, bench.isQuick ? 5 : 20);
      const beganMs = performance.now();
      for (const { samples } of judged) await detector.judge.judge(samples.slice(), signal);
      const judgeMs = (performance.now() - beganMs) / judged.length;
      return { measured: `${msPerS.toFixed(1)} ms; ${judgeMs.toFixed(0)} ms`, isMet: msPerS <= 5 };
    } finally {
      await detector.close();
    }
  },
};

/** Has a session hear turns, as fast as it takes them. @returns milliseconds of processor time a second of sound */
async function listen({ activity }: NeuralDetector, turns: readonly Clip[]): Promise<number> {
  const over = new AbortController();
  let ids = 0;
  let ended = 0;
  const runner = new SessionRunner(
    {
      activity,
      judge: { judge: async () => 1, close: NO_WORK },
      recogniser: {
        name: "none",
        memoryBytesPerS: 0,
        canTranslate: false,
        recognise: async () => NOTHING,
        close: NO_WORK,
      },
      transcriptionSlots: new KeyedSemaphore({
        what: "turns being heard",
        total: 1,
        perKey: 1,
        queueDepth: 9,
        keyQueueDepth: 9,
        waitMs: 30_000,
      }),
      detectionSlots: new KeyedSemaphore({
        what: "sound being searched for speech",
        total: 2,
        perKey: 1,
        queueDepth: 99,
        keyQueueDepth: 99,
        waitMs: 30_000,
      }),
      eventLoopShare: new EventLoopShare(),
      // Of what says nothing nothing is answered.
      service: { callsTools: false } as SpeechService,
      resolve: () => {
        throw new Error("no reply is asked for");
      },
      newId: (prefix) => `${prefix}${++ids}`,
      onFirstAudio: () => {},
      onFailure: (error) => over.abort(error),
    },
    {
      keyId: "bench",
      settings: {
        ...defaultSettings("svc-beta-v0.3", { cast: PUBLIC_MODELS[0]!.card, own: [] }),
        turnDetection: { type: "semantic_vad" },
      },
      model: null,
      begin: () => Promise.reject(new Error("no reply is asked for")),
      meter: NO_WORK,
      send: ({ type }) => {
        if (type === "input_audio_buffer.speech_stopped") ended += 1;
      },
      hasRoom: NO_WORK,
      hasOtherKeys: () => false,
      isBehind: () => false,
      signal: over.signal,
    },
  );
  const pause = new Float32Array(PAUSE_S * RATE_HZ);
  const sound = joinSamples(
    turns.flatMap(({ samples, sampleRateHz }) => [resample(samples, sampleRateHz, RATE_HZ), pause]),
  );
  const pcm = toPcm16(sound);
  const events = Array.from({ length: Math.floor(pcm.length / CHUNK) }, (_, at) => {
    const { buffer, byteOffset, byteLength } = pcm.subarray(at * CHUNK, (at + 1) * CHUNK);
    const audio = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
    return readClientEvent(Buffer.from(JSON.stringify({ type: "input_audio_buffer.append", audio })));
  });
  runner.begin();
  let began = process.cpuUsage();
  for (const [at, event] of events.entries()) {
    // The first seconds load what is loaded once.
    if (at === WARM_UP) began = process.cpuUsage();
    await runner.receive(event);
    await nextTurn();
  }
  const { user, system } = process.cpuUsage(began);
  runner.end();
  over.signal.throwIfAborted();
  if (ended === 0) throw new Error("no turn was heard");
  return (user + system) / 1_000 / (((events.length - WARM_UP) * CHUNK) / RATE_HZ);
}
