import assert from "node:assert/strict";
import { test } from "node:test";
import { hostileBody } from "../../bench/crowd/body-recipe.ts";
import { HostileClient } from "../../bench/crowd/hostile-client.ts";
import type { HostileGroup, Outcome } from "../../bench/crowd/hostile-job.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../api/http/start.ts";
import { until, within } from "../waiting.ts";

test("a client that reads everything finishes its requests in order", async () => {
  await withServer({}, async (server) => {
    assert.deepEqual(await outcomes(server, {}, 2), ["finished", "finished"]);
  });
});

test("a client that reads nothing holds its stream until it leaves", async () => {
  await withServer({}, async (server) => {
    const long = { kind: "text", chars: 8_000, maxNewTokens: 2_048 } as const;
    const unread = { body: long, reads: "nothing", holdMs: 200 } as const;
    assert.deepEqual(await outcomes(server, unread, 2), ["held", "held"]);
    await until("the streams have ended", async () => (await server.metric("active_streams")) === 0);
  });
});

test("a refused client reads why, and goes on", async () => {
  await withServer({ rpm: 1, burst: 1 }, async (server) => {
    const unread = { reads: "nothing", holdMs: 50 } as const;
    assert.deepEqual(await outcomes(server, unread, 3), ["held", "status 429", "status 429"]);
  });
});

test("uploads that are reset or stalled leave nothing in the server", async () => {
  await withServer({}, async (server) => {
    const large = { body: { kind: "flat", bytes: 1_000_000 } } as const;
    assert.deepEqual(await outcomes(server, { ...large, sends: "half" }, 2), ["reset", "reset"]);
    assert.deepEqual(await outcomes(server, { ...large, sends: "most", holdMs: 200 }, 1), ["held"]);
    await until("their memory is free", async () => (await server.metric("receiving_bytes")) === 0);
  });
});

async function outcomes(
  server: TestServer,
  changes: Partial<HostileGroup>,
  count: number,
): Promise<Outcome[]> {
  const group: HostileGroup = {
    name: "test",
    key: server.key,
    path: "/v1/converse/stream",
    body: { kind: "text", chars: 20 },
    clients: 1,
    sends: "all",
    reads: "everything",
    holdMs: 0,
    pauseMs: 0,
    ...changes,
  };
  const { bytes } = hostileBody(group.body, group.path);
  const client = new HostileClient(server.url, group);
  const ended: Outcome[] = [];
  try {
    for (let index = 0; index < count; index++)
      ended.push(await within("a request of a hostile client ends", client.request(bytes)));
  } finally {
    client.close();
  }
  return ended;
}

async function withServer(
  options: TestServerOptions,
  use: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startTestServer(options);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}
