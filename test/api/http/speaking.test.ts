import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Writer } from "../../../src/core/writer.ts";
import { until } from "../../waiting.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
afterEach(() => server?.stop());

test("a server knows whether anybody is spoken to, also while they read nothing", async () => {
  server = await startTestServer({ flags: { shutdownGraceMs: "100" } });
  assert.equal(server.isSpeaking(), false);
  const { socket } = await openRaw(server, { isIdle: true });
  const long = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };
  socket.write(rawRequest("/v1/converse/stream", server.key, long));
  await until("the stream to begin", () => server.isSpeaking());
  socket.destroy();
  await until("the stream to be over", () => !server.isSpeaking());
});

test("a turn is not spoken before its first sentence is written, and is while the next one is", async () => {
  const seen: boolean[] = [];
  const writer: Writer = {
    name: "watching",
    async *write() {
      seen.push(server.isSpeaking());
      yield { text: "This is the first of two.", tokens: null, gate: null };
      await until("the first to be spoken", () => server.isSpeaking());
      seen.push(server.isSpeaking());
      yield { text: "And this is the second.", tokens: null, gate: null };
    },
    async close() {},
  };
  server = await startTestServer({ writer });
  const conversation = [{ speaker: "0", text: "Hi." }, { speaker: "1" }];
  const reply = await server.post("/v1/converse", { conversation });
  assert.deepEqual([reply.status, seen], [200, [false, true]]);
});
