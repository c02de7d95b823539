import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import type { SentEvent } from "../api/http/wire.ts";
import { type Client, clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { makeKeys } from "./make-keys.ts";
import { startServerProcess } from "./server-process.ts";

interface Usage {
  readonly input_chars: number;
  readonly input_audio_seconds: number;
  readonly output_audio_seconds: number;
}

async function spokenUsage(client: Client, index: number): Promise<Usage> {
  const text = `Request number ${index} is here.`;
  if (index % 2 === 0) return (await okay(await client.post("/v1/tts", { text }))).usage;
  let last: SentEvent | undefined;
  for await (const event of client.stream({ conversation: [{ text }] })) last = event;
  assert.equal(last?.event, "end");
  return last?.data.usage;
}

it("two servers that start on one new data directory add up exactly", async () => {
  const dataDir = join(temporaryFolder(), "shared");
  const servers = await Promise.all([startServerProcess({ dataDir }), startServerProcess({ dataDir })]);
  const { key } = (await makeKeys(dataDir, 1))[0]!;
  const clients = servers.map(({ url }) => clientOf(url, key));
  const usages = await Promise.all(
    Array.from({ length: 24 }, (_, index) => spokenUsage(clients[index % 4 < 2 ? 0 : 1]!, index)),
  );
  const sum = (field: keyof Usage) => usages.reduce((total, usage) => total + usage[field], 0);
  for (const client of clients) {
    const total = await client.usage();
    assert.equal(total.requests, 24);
    assert.equal(total.input_chars, sum("input_chars"));
    assert.equal(
      Math.round(total.output_audio_seconds * 24_000),
      Math.round(sum("output_audio_seconds") * 24_000),
    );
  }
  for (const server of servers) assert.equal((await server.stop()).code, 0);
});
