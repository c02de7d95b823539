import assert from "node:assert/strict";
import { it } from "node:test";
import { until } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { begun } from "./crowd.ts";
import { startServerProcess } from "./server-process.ts";

/** Half a minute of speech, computed in well under a second. */
const TEXT = "The tide came in over the flats and went out again. ".repeat(10);
const AHEAD_S = 2;

it("a fast client is at most maxAheadS ahead, and pays for no more", async () => {
  const server = await startServerProcess({ env: { ANTIPHON_MAX_AHEAD_S: `${AHEAD_S}` } });
  const client = clientOf(server.url, server.key);
  const whole = await client.tts({ text: TEXT });
  assert.ok(whole.length > 20 * 48_000, "a reply in one piece waits for nothing");
  const { output_audio_seconds: before } = await client.usage();
  const askedMs = performance.now();
  // Measured from before the first frame, so that a frame seen late does not fail.
  const maxS = () => AHEAD_S + (performance.now() - askedMs) / 1_000;
  const stream = client.stream({ conversation: [{ text: TEXT }] });
  let seconds = 0;
  for await (const { event, data } of stream) {
    if (event !== "audio") continue;
    seconds += Buffer.from(data.pcm_b64, "base64").length / 48_000;
    assert.ok(seconds <= maxS() + 1e-6, `${seconds} s after ${maxS() - AHEAD_S} s`);
    if (seconds > AHEAD_S + 1) break;
  }
  assert.ok(seconds > AHEAD_S + 1, "it goes on as time passes");
  await until("the stream's end", async () => (await begun(client)) === 0);
  await until("the usage", async () => (await client.usage()).requests === 2);
  const { output_audio_seconds: after } = await client.usage();
  assert.ok(after - before >= seconds - 1e-6 && after - before <= maxS(), `${after - before} s`);
  assert.equal((await server.stop()).code, 0);
});
