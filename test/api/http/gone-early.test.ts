import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { memoryStore } from "../../accounts/memory-store.ts";
import { until } from "../../waiting.ts";
import { TwilioCall } from "../realtime/twilio-call.ts";
import { openRaw } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer | null = null;
/** Lets the keys be found that are looked for. */
let find: () => void = () => {};
let lookedFor = 0;

afterEach(async () => {
  find();
  await server?.stop();
  server = null;
});

/** A server whose store finds no key until it may. */
async function start(flags: Record<string, string>): Promise<TestServer> {
  lookedFor = 0;
  const mayFind = new Promise<void>((resolve) => {
    find = resolve;
  });
  const store = memoryStore();
  const { findKey } = store;
  server = await startTestServer({
    flags,
    store: {
      ...store,
      async findKey(hash) {
        lookedFor += 1;
        await mayFind;
        return findKey(hash);
      },
    },
  });
  return server;
}

const upgrade = (path: string, key: string) =>
  [
    `GET ${path} HTTP/1.1`,
    "Host: a",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    `Authorization: Bearer ${key}`,
    "",
    "",
  ].join("\r\n");

describe("a connection that is gone before its key is found", () => {
  for (const [path, flags] of [
    ["/v1/realtime", { "realtime.sessionsPerKey": "1" }],
    ["/v1/telephony/twilio", { "realtime.sessions": "1" }],
  ] as const) {
    it(`keeps no place at ${path}`, async () => {
      const own = await start(flags);
      const gone = await openRaw(own);
      // With its key in the URL, a call waits for one of as many places as there are sessions.
      const target = `${path}?key=${own.key}`;
      gone.socket.write(upgrade(target, own.key));
      await until("the search for its key", () => lookedFor === 1);
      gone.socket.resetAndDestroy();
      const left = `requests_ended_total{route="${path}",end="left",type="none"}`;
      await until("the end of its request", async () => (await own.metric(left)) === 1);
      find();
      const next = await openRaw(own);
      next.socket.write(upgrade(target, own.key));
      await until("an answer", () => next.received().includes("\r\n"));
      assert.match(next.received(), /^HTTP\/1\.1 101 /);
      next.socket.destroy();
      if (path === "/v1/realtime")
        await until("the end of all sessions", async () => (await own.metric("realtime_sessions")) === 0);
    });
  }

  it("keeps no place for a call that ended while the key of its stream was looked for", async () => {
    const own = await start({ "realtime.sessionsPerKey": "1" });
    const gone = await TwilioCall.open(own.url);
    gone.start({ key: own.key });
    await until("the search for its key", () => lookedFor === 1);
    gone.close();
    const ended = 'requests_ended_total{route="/v1/telephony/twilio",end="finished",type="none"}';
    await until("the end of its request", async () => (await own.metric(ended)) === 1);
    find();
    const next = await TwilioCall.open(own.url);
    next.start({ key: own.key });
    next.send({ event: "stop" });
    assert.deepEqual(await next.upToClose(), { code: 1_000, reason: "" });
    await until("the end of all sessions", async () => (await own.metric("realtime_sessions")) === 0);
  });
});
