import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { findModel, PUBLIC_MODELS } from "../../src/catalogue/public-models.ts";
import { ServiceError } from "../../src/contract/errors.ts";
import { type Frame, SpeechFailedError, type SpeechModel } from "../../src/model/speech-model.ts";
import { prepareTts } from "../../src/serving/prepare.ts";
import { type Caller, type Outcome, type ServiceOptions, SpeechService } from "../../src/serving/service.ts";
import { NO_TELEMETRY } from "../../src/serving/telemetry.ts";
import type { UsageRecord } from "../../src/tenancy/store.ts";

const PREPARED = prepareTts({ text: "Hello there." }, (id) => findModel(PUBLIC_MODELS, id));
const OPTIONS: ServiceOptions = {
  concurrency: 2,
  queueDepth: 2,
  queueWaitMs: 1_000,
  frameTimeoutMs: 1_000,
  loadTimeoutMs: 1_000,
};

/** What an engine does when its frame with this index is asked for: it may wait, or throw. */
type BeforeFrame = (index: number, signal: AbortSignal) => Promise<void> | void;

/** An engine of ten frames that notes what becomes of it. */
class Engine {
  readonly signals: AbortSignal[] = [];
  readonly #beforeFrame: BeforeFrame;
  given = 0;

  constructor(beforeFrame: BeforeFrame = () => {}) {
    this.#beforeFrame = beforeFrame;
  }

  model(): SpeechModel {
    const engine = this;
    return {
      async *speak(_script, signal) {
        engine.signals.push(signal);
        for (let index = 0; index < 10; index++) {
          await engine.#beforeFrame(index, signal);
          signal.throwIfAborted();
          engine.given++;
          yield { samples: new Float32Array(1_920) } satisfies Frame;
        }
        return { stop: "finished", spoken: "Hello there." };
      },
      close: async () => {},
    };
  }
}

interface Setup {
  readonly engine?: Engine;
  readonly options?: Partial<ServiceOptions>;
  readonly meter?: (record: UsageRecord) => Promise<void>;
  readonly lease?: (model: SpeechModel) => Promise<SpeechModel>;
}

function serviceOver({
  engine = new Engine(),
  options = {},
  meter,
  lease = async (model) => model,
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
      meter: meter ?? (async (record) => void metered.push(record)),
      telemetry: NO_TELEMETRY,
    },
    { ...OPTIONS, ...options },
  );
  return { service, engine, metered, leases: () => leases };
}

function caller({ stream = true, signal = new AbortController().signal } = {}): Caller {
  return { keyId: "key_test", signal, takesAudioAsItComes: stream };
}

async function collect(
  speech: AsyncGenerator<Int16Array, Outcome, void>,
): Promise<{ frames: number; outcome: Outcome }> {
  for (let frames = 0; ; frames++) {
    const step = await speech.next();
    if (step.done) return { frames, outcome: step.value };
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const forever = () => new Promise<never>(() => {});

/** With time in the test's hands. */
async function withClock(work: (tick: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
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

describe("the life of a request", () => {
  it("is metered once, when its last frame is out and before that is told", async () => {
    let commit = () => {};
    const committed = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const records: UsageRecord[] = [];
    const { service, leases } = serviceOver({
      meter(record) {
        records.push(record);
        return committed;
      },
    });
    let told = false;
    const finished = collect(service.converse(PREPARED, caller())).then((result) => {
      told = true;
      return result;
    });
    while (records.length === 0) await settle();
    await settle();
    assert.equal(told, false, "success is not told before it is durable");
    commit();
    const { frames, outcome } = await finished;
    assert.equal(frames, 10);
    assert.deepEqual(outcome.usage, { input_chars: 12, input_audio_seconds: 0, output_audio_seconds: 0.8 });
    assert.equal(outcome.meta.stop, "finished");
    assert.equal(records.length, 1);
    assert.deepEqual(
      [records[0]?.inputChars, records[0]?.outputAudioS, records[0]?.keyId],
      [12, 0.8, "key_test"],
    );
    assert.deepEqual([service.active, leases()], [0, 0]);
  });

  it("fails when it cannot be metered, and is not metered again", async () => {
    let attempts = 0;
    const { service, leases } = serviceOver({
      async meter() {
        attempts++;
        throw new Error("the disk is full");
      },
    });
    await assert.rejects(collect(service.converse(PREPARED, caller())), { message: "the disk is full" });
    assert.deepEqual([attempts, service.active, leases()], [1, 0, 0]);
  });

  it("is not metered when the engine fails, and frees its place and its model", async () => {
    const engine = new Engine((index) => {
      if (index === 4) throw new SpeechFailedError("the thread died");
    });
    const { service, metered, leases } = serviceOver({ engine });
    await assert.rejects(collect(service.converse(PREPARED, caller())), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual([error.status, error.retryAfterMs], [502, 1_000]);
      return true;
    });
    assert.deepEqual([metered.length, service.active, leases()], [0, 0, 0]);
  });

  for (const stream of [true, false]) {
    const what = stream ? "a stream, for what it was sent" : "a reply in one piece, for nothing";
    it(`is metered when its client leaves ${what}`, async () => {
      const client = new AbortController();
      const reason = new Error("gone");
      const engine = new Engine((index) => {
        if (index === 3) client.abort(reason);
      });
      const { service, metered, leases } = serviceOver({ engine });
      const speaking = collect(service.converse(PREPARED, caller({ stream, signal: client.signal })));
      await assert.rejects(speaking, (error) => error === reason);
      assert.deepEqual(
        metered.map(({ outputAudioS, inputChars }) => [outputAudioS, inputChars]),
        stream ? [[0.24, 12]] : [],
      );
      assert.equal(engine.given, 3);
      assert.deepEqual([service.active, leases()], [0, 0]);
    });
  }

  it("is metered for what was taken when its consumer stops asking", async () => {
    const { service, metered, engine, leases } = serviceOver();
    const speech = service.converse(PREPARED, caller());
    await speech.next();
    await speech.next();
    await speech.return({} as Outcome);
    assert.deepEqual(
      metered.map(({ outputAudioS }) => outputAudioS),
      [0.16],
    );
    assert.equal(engine.given, 2);
    assert.deepEqual([service.active, leases()], [0, 0]);
  });

  it("computes no frame that was not asked for", async () => {
    const { service, engine } = serviceOver();
    const speech = service.converse(PREPARED, caller());
    await speech.next();
    await settle();
    assert.equal(engine.given, 1);
    await speech.return({} as Outcome);
  });

  it("ends at once when its client has gone before it began", async () => {
    const { service, engine, metered } = serviceOver();
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(collect(service.converse(PREPARED, caller({ signal: gone }))), { message: "gone" });
    assert.deepEqual([engine.given, metered.length, service.active], [0, 0, 0]);
  });
});

describe("a deadline", () => {
  it("ends an engine that hangs over a frame with a 502, tells it to stop, and frees the place", async () => {
    await withClock(async (tick) => {
      const engine = new Engine((index) => (index === 2 ? forever() : undefined));
      const { service, metered, leases } = serviceOver({ engine });
      const speaking = collect(service.converse(PREPARED, caller())).catch((error: unknown) => error);
      await tick(999);
      assert.equal(engine.signals[0]?.aborted, false);
      await tick(1);
      const error = await speaking;
      assert.ok(error instanceof ServiceError);
      assert.equal(error.status, 502);
      assert.match(error.message, /took too long/);
      assert.equal(engine.signals[0]?.aborted, true);
      assert.deepEqual([metered.length, service.active, leases()], [0, 0, 0]);
    });
  });

  it("starts again with every frame, and does not run while the reader takes its time", async () => {
    await withClock(async (tick) => {
      const { service } = serviceOver();
      const speech = service.converse(PREPARED, caller());
      for (let i = 0; i < 10; i++) {
        assert.equal((await speech.next()).done, false);
        await tick(900);
      }
      assert.equal((await speech.next()).done, true);
    });
  });

  it("ends a model that does not load with a 502, and lets go of it should it load later", async () => {
    await withClock(async (tick) => {
      let load = () => {};
      const loaded = new Promise<void>((resolve) => {
        load = resolve;
      });
      const { service, leases } = serviceOver({ lease: (model) => loaded.then(() => model) });
      const speaking = collect(service.converse(PREPARED, caller())).catch((error: unknown) => error);
      await tick(1_000);
      const error = await speaking;
      assert.ok(error instanceof ServiceError && error.status === 502);
      assert.equal(service.active, 0);
      load();
      await settle();
      assert.equal(leases(), 0);
    });
  });
});

describe("a service that drains", () => {
  it("finishes what is being spoken, refuses whoever waits or comes, and then is done", async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const engine = new Engine((index) => (index === 5 ? held : undefined));
    const { service, metered } = serviceOver({ engine, options: { concurrency: 1 } });
    const speaking = collect(service.converse(PREPARED, caller()));
    while (engine.given < 5) await settle();
    const waiting = collect(service.converse(PREPARED, caller()));
    await settle();
    assert.equal(service.queued, 1);
    let isDone = false;
    const drained = service.drain(60_000).then(() => {
      isDone = true;
    });
    for (const refused of [waiting, collect(service.converse(PREPARED, caller()))])
      await assert.rejects(refused, { status: 502, message: /shutting down/ });
    await settle();
    assert.equal(isDone, false, "what is being spoken is waited for");
    goOn();
    assert.equal((await speaking).frames, 10);
    await drained;
    assert.equal(metered.length, 1);
  });

  it("is done at once when nothing is being spoken", async () => {
    await serviceOver().service.drain(60_000);
  });

  it("cuts off with a 502 what takes longer than the grace, unmetered", async () => {
    await withClock(async (tick) => {
      const engine = new Engine((index) => (index === 5 ? forever() : undefined));
      const { service, metered } = serviceOver({ engine, options: { frameTimeoutMs: 60_000 } });
      const speaking = collect(service.converse(PREPARED, caller())).catch((error: unknown) => error);
      while (engine.given < 5) await settle();
      const drained = service.drain(500);
      await tick(499);
      assert.equal(service.active, 1);
      await tick(1);
      const error = await speaking;
      assert.ok(error instanceof ServiceError && error.status === 502);
      assert.match(error.message, /shutting down/);
      await drained;
      assert.equal(metered.length, 0);
    });
  });
});
