import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caller, collect, Engine, PREPARED, serviceOver, settle, withClock } from "../service-over.ts";

/** Runs work with a service that computes at most a second ahead, on a mocked clock. */
async function atPace(
  work: (setup: ReturnType<typeof serviceOver> & { pass: (ms: number) => Promise<void> }) => Promise<void>,
  engine = new Engine(() => {}, 40),
  concurrency = 2,
): Promise<void> {
  await withClock(async (tick) => {
    let nowMs = 1_000_000;
    const options = { maxAheadS: 1, nowMs: () => nowMs, concurrency };
    const pass = async (ms: number): Promise<void> => {
      nowMs += ms;
      await tick(ms);
    };
    await work({ ...serviceOver({ engine, options }), pass });
  });
}

/** Frames of 80 ms per second. */
const SECOND = 12;
/** Frames per batch after a wait. */
const TOGETHER = 4;

describe("streamed speech", () => {
  it("is computed a second ahead, then at playback speed", async () => {
    await atPace(async ({ service, engine, metered, pass }) => {
      const speaking = collect(service.speak(PREPARED, caller()));
      await settle();
      assert.equal(engine.given, SECOND);
      for (let frames = TOGETHER; frames <= 40 - SECOND; frames += TOGETHER) {
        await pass(240);
        assert.equal(engine.given, SECOND + frames - TOGETHER, "not yet");
        await pass(80);
        assert.equal(engine.given, SECOND + frames, "four frames every 320 ms");
      }
      await pass(320);
      const { frames, outcome } = await speaking;
      assert.deepEqual([frames, outcome.meta.stop, metered.length], [40, "finished", 1]);
    });
  });

  it("regains its lead after its client paused", async () => {
    await atPace(async ({ service, engine, pass }) => {
      const speech = service.speak(PREPARED, caller());
      for (let frame = 0; frame < 3; frame++) await speech.next();
      await pass(960);
      const rest = collect(speech);
      await settle();
      assert.equal(engine.given, SECOND + SECOND, "as much again as time has passed");
      for (let frames = 2 * SECOND; frames <= 40; frames += TOGETHER) await pass(320);
      await rest;
    });
  });

  it("is metered for the lead when its client disconnects, and stops at once", async () => {
    await atPace(async ({ service, metered, engine, leases, pass }) => {
      const client = new AbortController();
      const speaking = collect(service.speak(PREPARED, caller({ signal: client.signal })));
      await settle();
      const reason = new Error("gone");
      client.abort(reason);
      await assert.rejects(speaking, (error) => error === reason);
      assert.deepEqual(
        metered.map(({ outputAudioS }) => outputAudioS),
        [SECOND * 0.08],
      );
      assert.deepEqual([service.active, service.paused, leases()], [0, 0, 0]);
      await pass(60_000);
      assert.equal(engine.given, SECOND, "nothing continues afterwards");
    });
  });

  it("yields its slot to a waiting request, and resumes when one is free", async () => {
    await atPace(
      async ({ service, engine, pass }) => {
        const first = collect(service.speak(PREPARED, caller({ keyId: "a" })));
        await settle();
        assert.deepEqual([service.active, service.paused], [0, 1]);
        const other = collect(service.speak(PREPARED, caller({ keyId: "b", stream: false })));
        await settle();
        assert.equal((await other).frames, 40, "a reply in one piece waits for nothing");
        assert.equal(engine.given, 40 + SECOND);
        for (let frames = SECOND; frames <= 40; frames += TOGETHER) await pass(320);
        assert.equal((await first).frames, 40);
      },
      undefined,
      1,
    );
  });

  it("is no longer paced on shutdown", async () => {
    await atPace(async ({ service, engine, pass }) => {
      const speaking = collect(service.speak(PREPARED, caller()));
      await settle();
      assert.equal(engine.given, SECOND);
      const drained = service.drain(60_000);
      assert.equal((await speaking).frames, 40);
      await drained;
      await pass(0);
    });
  });
});
