import assert from "node:assert/strict";
import { it } from "node:test";
import { embeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { LEAVES } from "../../src/settings/leaves.ts";
import { startTestServer } from "../api/http/start.ts";
import { createToneModel } from "../core/tone-model.ts";

it("a server with the maximum of workers starts without a memory setting", async () => {
  const threads = LEAVES.find(({ name }) => name === "workers")?.schema.maximum ?? assert.fail();
  const voice = embeddedVoice({ threads });
  const asLarge = { ...voice, load: () => createToneModel() };
  const server = await startTestServer({ checkpoints: [asLarge] });
  const [resident] = server.catalogue.resident();
  assert.deepEqual([resident?.state, resident?.memoryBytes], ["loaded", voice.memoryBytes]);
  await server.stop();
});
