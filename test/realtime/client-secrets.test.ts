import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClientSecrets } from "../../src/realtime/client-secrets.ts";

describe("client secrets", () => {
  it("stand for their key until they expire, to the second", () => {
    const secrets = new ClientSecrets();
    const session = { instructions: "Be brief." };
    const { value, expiresAt } = secrets.issue("ant_a", 60, session, 1_000.7);
    assert.equal(expiresAt, 1_060);
    assert.match(value, /^ek_/);
    assert.deepEqual(secrets.behind(value, 1_059.9), { apiKey: "ant_a", session, expiresAt });
    for (const [presented, nowS] of [
      [value, 1_060],
      ["ek_other", 1_000],
      ["ant_a", 1_000],
    ] as const)
      assert.deepEqual(secrets.behind(presented, nowS), { apiKey: presented, session: {} });
  });

  it("are kept for 256 of a key, the oldest of which goes first, and never another's", () => {
    const secrets = new ClientSecrets();
    const other = secrets.issue("ant_b", 60, {}, 1_000).value;
    const own = Array.from({ length: 257 }, () => secrets.issue("ant_a", 60, {}, 1_000).value);
    const keyOf = (value: string) => secrets.behind(value, 1_001).apiKey;
    assert.equal(keyOf(own[0]!), own[0]);
    assert.ok(own.slice(1).every((value) => keyOf(value) === "ant_a"));
    assert.equal(keyOf(other), "ant_b");
  });
});
