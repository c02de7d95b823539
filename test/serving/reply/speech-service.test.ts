import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UsageRecord } from "../../../src/accounts/store.ts";
import { ServiceError } from "../../../src/contract/errors.ts";
import { ConversationError, SpeechFailedError } from "../../../src/core/speech-model.ts";
import type { SpeechOutcome } from "../../../src/serving/reply/speech-service.ts";
import { until } from "../../waiting.ts";
import {
  caller,
  collect,
  Engine,
  forever,
  PREPARED,
  serviceOver,
  settle,
  withClock,
} from "../service-over.ts";

describe("a speech request", () => {
  it("is metered once, before its end is reported", async () => {
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
    let reported = false;
    const finished = collect(service.speak(PREPARED, caller())).then((result) => {
      reported = true;
      return result;
    });
    await until("the usage", () => records.length === 1);
    await settle();
    assert.equal(reported, false, "no success before it is durable");
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

  it("fails if metering fails, without a second attempt", async () => {
    let attempts = 0;
    const { service, leases } = serviceOver({
      async meter() {
        attempts++;
        throw new Error("the disk is full");
      },
    });
    await assert.rejects(collect(service.speak(PREPARED, caller())), { message: "the disk is full" });
    assert.deepEqual([attempts, service.active, leases()], [1, 0, 0]);
  });

  it("reports which turns the model read", async () => {
    const engine = new Engine();
    const prompt = { turns: [1, 2], heard: [2], forgotten: [0], cautions: ["cut short: no end came"] };
    const { service } = serviceOver({ engine });
    const metaOf = async () => (await collect(service.speak(PREPARED, caller()))).outcome.meta;
    assert.equal("prompt" in (await metaOf()), false);
    engine.report = { prompt };
    assert.deepEqual((await metaOf()).prompt, prompt);
  });

  it("fails with a 400 if the model rejects the conversation", async () => {
    const message = "the conversation is too long: leave out its earliest turns";
    const engine = new Engine(() => {
      throw new ConversationError(message);
    });
    const { service, metered } = serviceOver({ engine });
    await assert.rejects(collect(service.speak(PREPARED, caller())), { status: 400, message });
    assert.equal(metered.length, 0);
  });

  it("is not metered if the engine fails, and frees its slot and model", async () => {
    const engine = new Engine((index) => {
      if (index === 4) throw new SpeechFailedError("the thread died");
    });
    const { service, metered, leases } = serviceOver({ engine });
    await assert.rejects(collect(service.speak(PREPARED, caller())), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual([error.status, error.retryAfterMs], [502, 1_000]);
      return true;
    });
    assert.deepEqual([metered.length, service.active, leases()], [0, 0, 0]);
  });

  for (const stream of [true, false]) {
    const what = stream ? "a stream, for the frames sent" : "a reply in one piece, for nothing";
    it(`is metered when its client abandons ${what}`, async () => {
      const client = new AbortController();
      const reason = new Error("gone");
      const engine = new Engine((index) => {
        if (index === 3) client.abort(reason);
      });
      const { service, metered, leases } = serviceOver({ engine });
      const speaking = collect(service.speak(PREPARED, caller({ stream, signal: client.signal })));
      await assert.rejects(speaking, (error) => error === reason);
      assert.deepEqual(
        metered.map(({ outputAudioS, inputChars }) => [outputAudioS, inputChars]),
        stream ? [[0.24, 12]] : [],
      );
      assert.equal(engine.given, 3);
      assert.deepEqual([service.active, leases()], [0, 0]);
    });
  }

  it("is metered for the frames taken when its consumer returns", async () => {
    const { service, metered, engine, leases } = serviceOver();
    const speech = service.speak(PREPARED, caller());
    await speech.next();
    await speech.next();
    await speech.return({} as SpeechOutcome);
    assert.deepEqual(
      metered.map(({ outputAudioS }) => outputAudioS),
      [0.16],
    );
    assert.equal(engine.given, 2);
    assert.deepEqual([service.active, leases()], [0, 0]);
  });

  it("reports metering to the caller, including on disconnect", async () => {
    let reported = 0;
    const reportingCaller = () => ({ ...caller(), onMetered: () => reported++ });
    const { service } = serviceOver();
    await collect(service.speak(PREPARED, reportingCaller()));
    assert.equal(reported, 1);
    const left = service.speak(PREPARED, reportingCaller());
    await left.next();
    await left.return({} as SpeechOutcome);
    assert.equal(reported, 2);
    const early = service.speak(PREPARED, reportingCaller());
    await early.return({} as SpeechOutcome);
    const engine = new Engine((index) => {
      if (index === 4) throw new SpeechFailedError("the thread died");
    });
    await assert.rejects(collect(serviceOver({ engine }).service.speak(PREPARED, reportingCaller())));
    assert.equal(reported, 2);
  });

  it("computes no frame before it is requested", async () => {
    const { service, engine } = serviceOver();
    const speech = service.speak(PREPARED, caller());
    await speech.next();
    await settle();
    assert.equal(engine.given, 1);
    await speech.return({} as SpeechOutcome);
  });

  it("ends at once if its client has already disconnected", async () => {
    const { service, engine, metered } = serviceOver();
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(collect(service.speak(PREPARED, caller({ signal: gone }))), { message: "gone" });
    assert.deepEqual([engine.given, metered.length, service.active], [0, 0, 0]);
  });

  for (const stream of [true, false]) {
    for (const awaited of ["place", "model", "first frame"] as const) {
      const what = stream ? "a stream" : "a reply in one piece";
      it(`is not metered when its client abandons ${what} that waits for its ${awaited}`, async () => {
        const client = new AbortController();
        const reason = new Error("gone");
        let reached = "";
        const at = (step: string) => {
          reached = step;
          return step === awaited ? forever() : undefined;
        };
        const engine = new Engine(() => at("first frame"));
        const { service, metered, leases } = serviceOver({
          engine,
          options: { concurrency: awaited === "place" ? 0 : 1 },
          lease: async (model) => (await at("model")) ?? model,
        });
        const speaking = collect(service.speak(PREPARED, caller({ stream, signal: client.signal })));
        await until(`the wait for its ${awaited}`, () => reached === awaited || service.queued === 1);
        client.abort(reason);
        await assert.rejects(speaking, (error) => error === reason);
        assert.deepEqual([metered.length, engine.given], [0, 0]);
        assert.deepEqual([service.active, service.queued, leases()], [0, 0, 0]);
      });
    }
  }

  it("is not metered if its consumer returns before the first frame", async () => {
    const { service, metered, engine } = serviceOver();
    const speech = service.speak(PREPARED, caller());
    await speech.return({} as SpeechOutcome);
    assert.deepEqual([engine.given, metered.length, service.active], [0, 0, 0]);
  });
});

describe("the frame deadline", () => {
  it("aborts a hung engine with a 502 and frees the slot", async () => {
    await withClock(async (tick) => {
      const engine = new Engine((index) => (index === 2 ? forever() : undefined));
      const { service, metered, leases } = serviceOver({ engine });
      const refused = assert.rejects(collect(service.speak(PREPARED, caller())), {
        status: 502,
        message: /took too long/,
      });
      await tick(999);
      assert.equal(engine.signals[0]?.aborted, false);
      await tick(1);
      await refused;
      assert.equal(engine.signals[0]?.aborted, true);
      assert.deepEqual([metered.length, service.active, leases()], [0, 0, 0]);
    });
  });

  it("restarts with every frame and is suspended while the reader is slow", async () => {
    await withClock(async (tick) => {
      const { service } = serviceOver();
      const speech = service.speak(PREPARED, caller());
      for (let i = 0; i < 10; i++) {
        assert.equal((await speech.next()).done, false);
        await tick(900);
      }
      assert.equal((await speech.next()).done, true);
    });
  });

  it("fails a model that does not load with a 502, and releases it if it loads later", async () => {
    await withClock(async (tick) => {
      let load = () => {};
      const loaded = new Promise<void>((resolve) => {
        load = resolve;
      });
      const { service, leases } = serviceOver({ lease: (model) => loaded.then(() => model) });
      const refused = assert.rejects(collect(service.speak(PREPARED, caller())), { status: 502 });
      await tick(1_000);
      await refused;
      assert.equal(service.active, 0);
      load();
      await settle();
      assert.equal(leases(), 0);
    });
  });
});

describe("draining a service", () => {
  it("finishes open utterances and refuses queued and new ones", async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const engine = new Engine((index) => (index === 5 ? held : undefined));
    const { service, metered } = serviceOver({ engine, options: { concurrency: 1 } });
    const speaking = collect(service.speak(PREPARED, caller()));
    await until("the fifth frame", () => engine.given === 5);
    const waiting = collect(service.speak(PREPARED, caller()));
    await settle();
    assert.equal(service.queued, 1);
    let isDone = false;
    const drained = service.drain(60_000).then(() => {
      isDone = true;
    });
    for (const refused of [waiting, collect(service.speak(PREPARED, caller()))])
      await assert.rejects(refused, { status: 502, message: /shutting down/ });
    await settle();
    assert.equal(isDone, false, "what is being spoken is waited for");
    goOn();
    assert.equal((await speaking).frames, 10);
    await drained;
    assert.equal(metered.length, 1);
  });

  it("ends at once if nothing is spoken", async () => {
    await serviceOver().service.drain(60_000);
  });

  it("aborts with a 502, unmetered, what outlasts the grace period", async () => {
    await withClock(async (tick) => {
      const engine = new Engine((index) => (index === 5 ? forever() : undefined));
      const { service, metered } = serviceOver({ engine, options: { frameTimeoutMs: 60_000 } });
      const refused = assert.rejects(collect(service.speak(PREPARED, caller())), {
        status: 502,
        message: /shutting down/,
      });
      await until("the fifth frame", () => engine.given === 5);
      const drained = service.drain(500);
      await tick(499);
      assert.equal(service.active, 1);
      await tick(1);
      await refused;
      await drained;
      assert.equal(metered.length, 0);
    });
  });
});
