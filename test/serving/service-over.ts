import { mock } from "node:test";
import type { UsageRecord } from "../../src/accounts/store.ts";
import { NO_SPAN } from "../../src/core/span.ts";
import type { Frame, SpeechModel, SpeechReport } from "../../src/core/speech-model.ts";
import type { Writer } from "../../src/core/writer.ts";
import { KeyedSemaphore, type KeyedSemaphoreOptions } from "../../src/limits/keyed-semaphore.ts";
import { findModel, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { resolveTts } from "../../src/serving/prepare/resolve-request.ts";
import type { ReplyChunk } from "../../src/serving/reply/reply-chunk.ts";
import {
  type SpeechOutcome,
  type SpeechRequest,
  SpeechService,
  type SpeechServiceOptions,
} from "../../src/serving/reply/speech-service.ts";
import type { Telemetry } from "../../src/serving/telemetry.ts";

/** A request of twelve characters. */
export const PREPARED = resolveTts({ text: "Hello there." }, (id) => findModel(PUBLIC_MODELS, id));
const OPTIONS: SpeechServiceOptions = {
  concurrency: 2,
  keyConcurrency: 2,
  queueDepth: 2,
  keyQueueDepth: 2,
  queueWaitMs: 1_000,
  frameTimeoutMs: 1_000,
  loadTimeoutMs: 1_000,
  maxAheadS: 0,
};

/** Runs before the frame of an index; may wait or throw. */
type BeforeFrame = (index: number, signal: AbortSignal) => Promise<void> | void;

/** An engine of ten frames by default that records its use. */
export class Engine {
  readonly signals: AbortSignal[] = [];
  readonly #beforeFrame: BeforeFrame;
  readonly #frames: number;
  report: Partial<SpeechReport> = {};
  given = 0;

  constructor(beforeFrame: BeforeFrame = () => {}, frames = 10) {
    this.#beforeFrame = beforeFrame;
    this.#frames = frames;
  }

  model(): SpeechModel {
    const engine = this;
    return {
      async *speak(_script, signal) {
        engine.signals.push(signal);
        for (let index = 0; index < engine.#frames; index++) {
          await engine.#beforeFrame(index, signal);
          signal.throwIfAborted();
          engine.given++;
          yield { samples: new Float32Array(1_920) } satisfies Frame;
        }
        return { stop: "finished", spoken: "Hello there.", ...engine.report };
      },
      close: async () => {},
    };
  }
}

interface Setup {
  readonly engine?: Engine;
  readonly options?: Partial<SpeechServiceOptions>;
  readonly meter?: (record: UsageRecord) => Promise<void>;
  readonly lease?: (model: SpeechModel) => Promise<SpeechModel>;
  readonly writer?: Writer | null;
  readonly writing?: KeyedSemaphoreOptions;
  readonly telemetry?: Partial<Telemetry>;
}

const WRITING: KeyedSemaphoreOptions = {
  what: "turns being written",
  total: 2,
  perKey: 2,
  queueDepth: 2,
  keyQueueDepth: 2,
  waitMs: 1_000,
};

/** A service over one engine, with its usage records and its number of leases. */
export function serviceOver({
  engine = new Engine(),
  options = {},
  meter,
  lease = async (model) => model,
  writer = null,
  writing = WRITING,
  telemetry = {},
}: Setup = {}) {
  const metered: UsageRecord[] = [];
  let leases = 0;
  const service = new SpeechService(
    {
      async lease() {
        const model = await lease(engine.model());
        leases++;
        let isHeld = true;
        const release = () => {
          if (isHeld) leases--;
          isHeld = false;
        };
        return { model, preset: {}, card: PREPARED.model.card, release };
      },
      writer,
      writing: new KeyedSemaphore(writing),
      meter: meter ?? (async (record) => void metered.push(record)),
      telemetry: { ...NO_TELEMETRY, ...telemetry },
    },
    { ...OPTIONS, ...options },
  );
  return { service, engine, metered, leases: () => leases };
}

export function caller({
  stream = true,
  signal = new AbortController().signal,
  keyId = "key_test",
  span = NO_SPAN,
} = {}): SpeechRequest {
  return { keyId, encoding: "pcm", signal, span, isStreamed: stream, isPlayed: stream };
}

export async function collect(
  speech: AsyncGenerator<ReplyChunk, SpeechOutcome, void>,
): Promise<{ frames: number; outcome: SpeechOutcome }> {
  for (let frames = 0; ; frames++) {
    const step = await speech.next();
    if (step.done) return { frames, outcome: step.value };
  }
}

/** Lets all pending microtasks and callbacks run. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));
export const forever = () => new Promise<never>(() => {});

/** Runs work with mocked timers. */
export async function withClock(work: (tick: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    await work(async (ms) => {
      await settle();
      mock.timers.tick(ms);
      await settle();
    });
  } finally {
    mock.timers.reset();
  }
}

const NO_TELEMETRY: Telemetry = {
  queued: () => {},
  firstToken: () => {},
  firstAudio: () => {},
  underrun: () => {},
  ended: () => {},
  transcribed: () => {},
  turnTranscribed: () => {},
  metered: () => {},
};
