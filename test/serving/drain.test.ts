import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { until } from "../waiting.ts";
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
      const speaking = collect(service.speak(PREPARED, caller())).catch((error: unknown) => error);
      await until("the fifth frame", () => engine.given === 5);
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
