import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import type { SentEvent } from "../api/http/wire.ts";
import { clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { makeKeys } from "./make-keys.ts";
import { startServerProcess } from "./server-process.ts";

const TEXT = "No room.";

it("a full disk fails only the calls that cannot be metered", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const { key } = (await makeKeys(dataDir, 1))[0]!;
  const full = await startServerProcess({ dataDir, before: "ulimit -f 40" });
  const client = clientOf(full.url, key);
  let successes = 0;
  let response = await client.post("/v1/tts", { text: TEXT });
  for (; response.status === 200 && successes < 100; successes++) {
    await response.text();
    response = await client.post("/v1/tts", { text: TEXT });
  }
  assert.ok(successes > 0, "there was some room first");
  const { error } = await response.json();
  assert.deepEqual([response.status, error.type], [500, "internal_error"]);
  assert.ok(!error.message.includes(dataDir), error.message);

  const others = await Promise.all(
    Array.from({ length: 3 }, () => client.post("/v1/converse", { conversation: [{ text: TEXT }] })),
  );
  assert.deepEqual(
    others.map(({ status }) => status),
    [500, 500, 500],
  );
  const events: SentEvent[] = [];
  for await (const event of client.stream({ conversation: [{ text: TEXT }] })) events.push(event);
  assert.equal(events[1]?.event, "audio", "a stream has begun before it is metered");
  assert.deepEqual([events.at(-1)?.event, events.at(-1)?.data.type], ["error", "internal_error"]);
  for (const left of [1, 2]) {
    const stream = client.stream({ conversation: [{ text: TEXT }] });
    for (let i = 0; i <= left; i++) await stream.next();
    await stream.return();
  }

  assert.equal((await client.get("/health")).status, 200);
  assert.equal((await client.usage()).requests, successes, "what was reported, and nothing else");
  assert.match(full.stderr(), /antiphon\.db is full or failing/);
  assert.equal((await full.stop()).code, 0);

  const roomy = await startServerProcess({ dataDir });
  const again = clientOf(roomy.url, key);
  assert.equal((await again.usage()).requests, successes);
  await again.tts({ text: TEXT });
  const { requests, input_chars } = await again.usage();
  assert.deepEqual([requests, input_chars], [successes + 1, (successes + 1) * TEXT.length]);
  assert.equal((await roomy.stop()).code, 0);
});
