import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeWav } from "../../audio/make-wav.ts";
import { assertRefused } from "./refused.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

test("a turn's audio may be exactly 25 MiB, and not a byte more", async () => {
  const cap = 25 * 2 ** 20;
  const whole = Buffer.alloc(cap + 2);
  makeWav({ encoding: "s16", rateHz: 24_000, channels: [[0]] }).copy(whole);
  // Sizes of a streaming writer: the data runs to the end of the file.
  whole.writeUInt32LE(0xffff_ffff, 4);
  whole.writeUInt32LE(0xffff_ffff, 40);
  const ask = (bytes: number) => ({
    conversation: [{ audio_wav_b64: whole.subarray(0, bytes).toString("base64") }, { text: "a" }],
  });
  const full = await server.post("/v1/converse", ask(cap));
  assert.equal(full.status, 200);
  assert.equal((await full.json()).usage.input_audio_seconds, (cap - 44) / 48_000);
  await assertRefused(server, "/v1/converse", ask(cap + 1), 400, /over the cap of 26214400 bytes/);
});

test("what is over the cap is refused for its size, whatever it is", async () => {
  const noWav = "A".repeat(Math.ceil((25 * 2 ** 20 + 1) / 3) * 4);
  const conversation = [{ audio_wav_b64: noWav }, { text: "a" }];
  await assertRefused(server, "/v1/converse", { conversation }, 400, /over the cap/);
});
