import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import {
  caller,
  collect,
  Engine,
  forever,
  PREPARED,
  serviceOver,
  settle,
  withClock,
} from "./service-over.ts";

describe("the frame deadline", () => {
  it("aborts a hung engine with a 502 and frees the slot", async () => {
    await withClock(async (tick) => {
      const engine = new Engine((index) => (index === 2 ? forever() : undefined));
      const { service, metered, leases } = serviceOver({ engine });
      const speaking = collect(service.speak(PREPARED, caller())).catch((error: unknown) => error);
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
      const speaking = collect(service.speak(PREPARED, caller())).catch((error: unknown) => error);
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
