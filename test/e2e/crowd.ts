import assert from "node:assert/strict";
import type { Client } from "./client.ts";

/**
 * Opens streams that speak `text`, and resolves when each has begun to be heard. They are read on until the function
 * that this gives is called, which leaves them all.
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
