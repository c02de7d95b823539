import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { SentEvent } from "../api/http/wire.ts";
import { within } from "../waiting.ts";
import { type ServerWithPool, startServerWithPool } from "./server-with-pool.ts";

const LONG = "The tide came in over the flats and went out again. ".repeat(20);

let server: ServerWithPool;
before(async () => {
  server = await startServerWithPool();
});
after(() => server.stop());

it("a dead thread fails its requests, unmetered, and is replaced", async () => {
  const { client, pool } = server;
  const events: SentEvent[] = [];
  const stream = client.stream({ conversation: [{ text: LONG }] });
  for (let i = 0; i < 3; i++) events.push((await stream.next()).value as SentEvent);
  const before = server.frames.given;
  const collected = client.post("/v1/tts", { text: LONG });
  // More frames than the stream's show that the whole reply has begun too.
  while (server.frames.given < before + 30) {
    const step = await within("more of the stream", stream.next());
    assert.ok(!step.done, "it ended before the collected reply began");
    events.push(step.value);
  }
  await pool.terminateOne();
  for await (const event of stream) events.push(event);
  const failure = events.at(-1);
  assert.deepEqual([failure?.event, failure?.data.type], ["error", "inference_error"]);
  assert.match(failure?.data.message, /retry/);
  assert.equal(failure?.data.request_id, events[0]?.data.request_id);

  const refused = await collected;
  assert.equal(refused.status, 502);
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  const { error } = await refused.json();
  assert.equal(error.type, "inference_error");
  assert.equal(error.request_id, refused.headers.get("x-request-id"));
  assert.equal((await client.usage()).requests, 0, "a failed call is not metered");

  assert.ok((await client.tts({ text: "And here we are again." })).length > 24_000);
  assert.equal(pool.stats().replaced, 1);
  assert.equal((await client.usage()).requests, 1);
});
