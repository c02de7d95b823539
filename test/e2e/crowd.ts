import assert from "node:assert/strict";
import type { Client } from "./client.ts";

/** Counts utterances in progress. */
export async function begun(client: Client): Promise<number> {
  const metrics = await (await client.get("/metrics")).text();
  const gauges = [...metrics.matchAll(/^antiphon_(?:active|paused)_streams (\d+)$/gm)];
  assert.equal(gauges.length, 2);
  return gauges.reduce((sum, [, value]) => sum + Number(value), 0);
}

/**
 * Opens streams of `text`, and resolves when each has its first audio. Reads them until the returned function is
 * called.
 */
export async function crowd(client: Client, text: string, count: number): Promise<() => Promise<void>> {
  const streams = Array.from({ length: count }, (_, index) =>
    client.stream({
      conversation: [{ speaker: index % 2 ? "1" : "0", text }],
      params: { max_new_tokens: 2_048 },
    }),
  );
  for (const stream of streams) {
    await stream.next();
    assert.equal((await stream.next()).value?.event, "audio");
  }
  const reading = streams.map(async (stream) => {
    for await (const { event } of stream) if (event !== "audio") return;
  });
  return async () => {
    await Promise.all(streams.map((stream) => stream.return()));
    await Promise.all(reading);
  };
}
