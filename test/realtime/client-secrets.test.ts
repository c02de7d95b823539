import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClientSecrets } from "../../src/realtime/client-secrets.ts";

describe("client secrets", () => {
  it("stand for their key until they expire, to the second", () => {
    const secrets = new ClientSecrets();
    const { value, expiresAt } = secrets.issue("ant_a", 60, {}, 1_000.7);
    assert.equal(expiresAt, 1_060);
    assert.equal(secrets.find(value, 1_059.9)?.apiKey, "ant_a");
    assert.equal(secrets.find(value, 1_060), null);
    assert.equal(secrets.find("ek_other", 1_000), null);
    assert.ok(ClientSecrets.isOne(value));
  });

  it("are kept for 256 of a key, the oldest of which goes first, and never another's", () => {
    const secrets = new ClientSecrets();
    const other = secrets.issue("ant_b", 60, {}, 1_000).value;
    const own = Array.from({ length: 257 }, () => secrets.issue("ant_a", 60, {}, 1_000).value);
    assert.equal(secrets.find(own[0]!, 1_001), null);
    assert.ok(own.slice(1).every((value) => secrets.find(value, 1_001) !== null));
    assert.ok(secrets.find(other, 1_001));
  });
});
