import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClientSecrets } from "../../../src/api/realtime/client-secrets.ts";

function secretsAt() {
  const clock = { nowMs: 5_000 };
  return { clock, secrets: new ClientSecrets(() => clock.nowMs) };
}

describe("client secrets", () => {
  it("stand for their key until they expire, independent of the wall clock", (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: 1_000_700 });
    const { clock, secrets } = secretsAt();
    const session = { instructions: "Be brief." };
    const { value, expiresAt } = secrets.issue("ant_a", 60, session);
    assert.equal(expiresAt, 1_060);
    assert.match(value, /^ek_/);
    t.mock.timers.setTime(9e12);
    clock.nowMs += 59_200;
    assert.deepEqual(secrets.resolve(value), { apiKey: "ant_a", session });
    for (const presented of ["ek_other", "ant_a"])
      assert.deepEqual(secrets.resolve(presented), { apiKey: presented, session: {} });
    clock.nowMs += 100;
    assert.deepEqual(secrets.resolve(value), { apiKey: value, session: {} });
  });

  it("are limited to 256 per key: the oldest is dropped", () => {
    const { secrets } = secretsAt();
    const other = secrets.issue("ant_b", 60, {}).value;
    const own = Array.from({ length: 257 }, () => secrets.issue("ant_a", 60, {}).value);
    const keyOf = (value: string) => secrets.resolve(value).apiKey;
    assert.equal(keyOf(own[0]!), own[0]);
    assert.ok(own.slice(1).every((value) => keyOf(value) === "ant_a"));
    assert.equal(keyOf(other), "ant_b");
  });

  it("keep 2 Mi characters of sessions per key and 32 Mi in total", () => {
    const { secrets } = secretsAt();
    const isGood = (value: string) => !secrets.resolve(value).apiKey.startsWith("ek_");
    const large = { instructions: "x".repeat(65_000) };
    const small = secrets.issue("ant_small", 60, { instructions: "Be brief." }).value;
    const own = Array.from({ length: 40 }, () => secrets.issue("ant_a", 60, large).value);
    assert.equal(own.filter(isGood).length, 32);
    assert.ok(isGood(own.at(-1)!));
    const all = Array.from({ length: 20 * 40 }, (_, at) => secrets.issue(`ant_${at % 20}`, 60, large).value);
    const kept = [...own, ...all].filter(isGood).length;
    assert.ok(kept * 65_000 <= 32 * 2 ** 20 && kept > 480, `${kept}`);
    assert.ok(isGood(all.at(-1)!) && isGood(small));
  });

  it("return a session's functions unchanged", () => {
    const { secrets } = secretsAt();
    const tools = [{ type: "function" as const, name: "clock", parameters: { a: [1] } }];
    const { value } = secrets.issue("ant_a", 60, JSON.parse(JSON.stringify({ tools })));
    assert.equal(JSON.stringify(secrets.resolve(value).session), JSON.stringify({ tools }));
  });
});
