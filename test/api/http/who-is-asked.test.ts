import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, test } from "node:test";
import { memoryBuckets } from "../../../src/accounts/buckets.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { within } from "../../waiting.ts";
import { openRaw } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

const asked: string[] = [];
let server: TestServer;
before(async () => {
  const [store, buckets] = [memoryStore(), memoryBuckets()];
  server = await startTestServer({
    rpm: 600,
    burst: 7,
    flags: { anonymousRpm: "30", anonymousBurst: "20", keylessLists: "all" },
    isStoreShared: true,
    store: {
      ...store,
      findKey(hash) {
        asked.push("store");
        return store.findKey(hash);
      },
    },
    buckets: {
      ...buckets,
      take(name, limits) {
        asked.push("take");
        return buckets.take(name, limits);
      },
      peek(name, limits) {
        asked.push("peek");
        return buckets.peek(name, limits);
      },
    },
  });
});
after(() => server.stop());
beforeEach(() => asked.splice(0));

const limitOf = async (path: string, headers?: Record<string, string>) =>
  (await server.get(path, headers)).headers.get("x-ratelimit-limit");

describe("a request to one of several servers", () => {
  it("asks the store for its key, then the key's bucket, once each", async () => {
    await server.get("/v1/usage");
    assert.deepEqual(asked.splice(0), ["store", "peek"]);
    await (await server.post("/v1/tts", { text: "Hi." })).text();
    assert.deepEqual(asked, ["store", "take"]);
  });

  it("asks nobody on an open route or a path that is not there, and is told of its key's bucket all the same", async () => {
    await server.get("/v1/usage");
    asked.splice(0);
    for (const path of ["/health", "/ready", "/metrics", "/v1/models", "/v1/audio/voices", "/nothing"]) {
      assert.equal(await limitOf(path), "600", path);
      assert.equal(await limitOf(path, {}), "30", path);
    }
    assert.deepEqual(asked, []);
  });

  it("is told of its address's bucket there where its key was not seen lately, or is good no more", async () => {
    const { auth, keyId } = await server.another();
    assert.equal(await limitOf("/health", auth), "30");
    await server.get("/v1/usage", auth);
    assert.equal(await limitOf("/health", auth), "600");
    await server.tenancy.revokeKey(keyId);
    await server.get("/v1/usage", auth);
    assert.equal(await limitOf("/health", auth), "30");
  });

  it("asks nobody without a key, with what is none, or where it is no request at all", async () => {
    for (const headers of [{}, { "X-API-Key": "ant_guess" }] as Record<string, string>[]) {
      assert.equal((await server.get("/v1/usage", headers)).status, 401);
    }
    const { socket, received, over } = await openRaw(server);
    socket.write("nonsense\r\n\r\n");
    await within("an answer", over);
    socket.destroy();
    assert.match(received(), /^HTTP\/1.1 400 [\s\S]*X-RateLimit-Limit: 30/);
    assert.deepEqual(asked, []);
  });
});

test("a server with a store of its own tells a key's bucket on open routes at once, and nothing of it when it is revoked", async () => {
  const alone = await startTestServer({ rpm: 600, flags: { anonymousRpm: "30" } });
  try {
    const told = async (path: string, headers: Record<string, string>) =>
      (await alone.get(path, headers)).headers.get("x-ratelimit-limit");
    const { auth, keyId } = await alone.another();
    for (const path of ["/health", "/ready", "/metrics", "/v1/audio/voices", "/nothing"]) {
      assert.equal(await told(path, auth), "600", path);
    }
    await alone.tenancy.revokeKey(keyId);
    assert.equal(await told("/health", auth), "30");
  } finally {
    await alone.stop();
  }
});
