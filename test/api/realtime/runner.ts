import { setImmediate as turn } from "node:timers/promises";
import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import { SessionRunner } from "../../../src/api/realtime/session-runner.ts";
import { defaultSettings, type SessionSettings } from "../../../src/api/realtime/session-settings.ts";
import { ServiceError } from "../../../src/contract/errors.ts";
import type { Recogniser } from "../../../src/core/recogniser.ts";
import { EventLoopShare } from "../../../src/limits/event-loop-budget.ts";
import { KeyedSemaphore } from "../../../src/limits/keyed-semaphore.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { RequestContext } from "../../../src/requests/request-context.ts";
import type { ResolvedRequest } from "../../../src/serving/prepare/resolve-request.ts";
import type { SpeechRequest, SpeechService } from "../../../src/serving/reply/speech-service.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { ScriptedDetector } from "./scripted-detector.ts";
import { VOICES } from "./session-driver.ts";

export interface RunnerOptions {
  readonly hasOtherKeys?: () => boolean;
  /** Decides which parts fail and how long they take. Without it no part fails or waits. */
  readonly random?: () => number;
  readonly settings?: Partial<SessionSettings>;
  /** Replaces the scripted speech. */
  readonly converse?: SpeechService["speak"];
}

/** Opens a session runner whose other parts are scripted. */
export function openRunner({ random, settings, converse, hasOtherKeys = () => false }: RunnerOptions = {}) {
  const sent: ServerEvent[] = [];
  const failures: unknown[] = [];
  const metered: number[] = [];
  const contexts: RequestContext[] = [];
  const answers: number[] = [];
  const detector = new ScriptedDetector();
  const gone = new AbortController();
  let ids = 0;
  const chance = (probability: number): boolean => random !== undefined && random() < probability;
  const awhile = async (): Promise<void> => {
    for (let left = Math.floor((random?.() ?? 0) * 8); left > 0; left -= 1) await turn();
  };
  const scripted = new ScriptedRecogniser();
  const recogniser: Recogniser = {
    name: "scripted",
    memoryBytesPerS: 0,
    canTranslate: false,
    async recognise(sound, options, signal) {
      await awhile();
      signal.throwIfAborted();
      if (chance(0.1)) throw new ServiceError(502, "scripted");
      scripted.hear(chance(0.2) ? [] : SEGMENTS);
      return scripted.recognise(sound, options, signal);
    },
    async close() {},
  };
  const speech: Pick<SpeechService, "callsTools" | "speak" | "write"> = {
    callsTools: true,
    async *write(prepared, { signal, onCall, onMetered }) {
      await awhile();
      signal.throwIfAborted();
      if (chance(0.1)) throw new ServiceError(502, "scripted");
      if (chance(0.3)) onCall?.(CALL, chance(0.5) ? 0 : WORDS.length);
      try {
        if (!chance(0.2)) yield WORDS;
        await awhile();
        signal.throwIfAborted();
      } finally {
        // A client that leaves in the middle pays as well.
        await awhile();
        metered.push(prepared.input.audioS);
        onMetered?.();
      }
      return { text: WORDS, stop: chance(0.2) ? "length" : "finished", tokens: { prompt: 9, written: 3 } };
    },
    speak: converse ?? scriptedConverse,
  };
  async function* scriptedConverse(
    prepared: ResolvedRequest,
    { signal, onSentence, onCall, onMetered }: SpeechRequest,
  ): ReturnType<SpeechService["speak"]> {
    await awhile();
    signal.throwIfAborted();
    if (chance(0.1)) throw new ServiceError(502, "scripted");
    const frames = chance(0.5) ? 3 : 12;
    onSentence?.(WORDS);
    if (chance(0.3)) onCall?.(CALL, chance(0.5) ? 0 : WORDS.length);
    let isOwed = false;
    try {
      for (let frame = 0; frame < frames; frame += 1) {
        await awhile();
        signal.throwIfAborted();
        if (chance(0.02)) throw new ServiceError(502, "scripted");
        const word = { word: "well", start: frame * 0.08, end: (frame + 1) * 0.08, offset: 0, length: 4 };
        isOwed = true;
        yield {
          bytes: new Uint8Array(frame === 11 ? 1_001 : 3_840),
          marks: { words: frame === 0 ? [word] : [] },
        };
      }
    } catch (error) {
      isOwed &&= signal.aborted;
      throw error;
    } finally {
      await awhile();
      if (isOwed) {
        metered.push(prepared.input.audioS);
        onMetered?.();
      }
    }
    const meta = { stop: chance(0.2) ? "length" : "finished" };
    const usage = { input_chars: 0, input_audio_seconds: 0, output_audio_seconds: 0.08 * frames };
    const finishedHead = new Uint8Array(0);
    const audioS = 0.08 * frames;
    return { text: WORDS, audioS, frames, usage, tokens: null, finishedHead, marks: {}, meta };
  }
  const runner = new SessionRunner(
    {
      activity: detector.activity,
      judge: {
        async judge() {
          await awhile();
          return random?.() ?? detector.finished;
        },
        async close() {},
      },
      recogniser,
      transcriptionSlots: new KeyedSemaphore({ what: "turns", total: 4, perKey: 2, ...QUEUE }),
      detectionSlots: new KeyedSemaphore({ what: "detectors", total: 2, perKey: 1, ...QUEUE }),
      eventLoopShare: new EventLoopShare(),
      service: speech as SpeechService,
      resolve: (id) => findModel(PUBLIC_MODELS, id),
      newId: (prefix) => `${prefix}${++ids}`,
      onFirstAudio: (seconds) => answers.push(seconds),
      onFailure: (error) => {
        if ((error as Error).message !== "scripted") failures.push(error);
      },
    },
    {
      keyId: "key_a",
      settings: { ...defaultSettings("svc-beta-v0.3", VOICES), ...settings },
      model: null,
      async begin(_what, signal) {
        await awhile();
        if (chance(0.1)) throw new ServiceError(429, "scripted");
        const context = new RequestContext(() => {}, signal);
        context.keyId = "key_a";
        contexts.push(context);
        return context;
      },
      meter: async (seconds) => void metered.push(seconds),
      send: (event) => sent.push(event),
      hasRoom: awhile,
      hasOtherKeys,
      isBehind: () => false,
      signal: gone.signal,
    },
  );
  const leave = (): void => {
    gone.abort(new Error("the client closed its session"));
    runner.end();
  };
  return { runner, sent, failures, metered, contexts, answers, detector, leave };
}

const QUEUE = { queueDepth: 99, keyQueueDepth: 99, waitMs: 30_000 };
const WORDS = "well";
const CALL = { callId: "call_1", name: "clock", arguments: "{}" };
const SEGMENTS = [{ startS: 0, endS: 1, text: "What now?", words: null, meanLogProbability: null }];
