import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { libsqlStore } from "../../../src/accounts/libsql/libsql-store.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { addVoice, deleteVoice } from "./voice-form.ts";

const ROUNDS = 12;

test("two servers on one database that make, use and delete a voice at once agree on what there is", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-voices-shared-"));
  t.after(() => rm(folder, { recursive: true }));
  const start = async (): Promise<TestServer> => {
    const server = await startTestServer({ store: await libsqlStore(folder), isStoreShared: true });
    t.after(() => server.stop());
    return server;
  };
  const [server, twin] = [await start(), await start()];
  const both = [server, twin];
  const { key } = server;
  const speak = (on: TestServer) =>
    on.post(
      "/v1/audio/speech",
      { input: "Hi.", voice: "Anna", response_format: "pcm" },
      { Authorization: `Bearer ${key}` },
    );
  const statuses = async (asked: readonly Promise<{ readonly status: number }>[]): Promise<number[]> =>
    (await Promise.all(asked)).map(({ status }) => status).sort();

  for (let round = 0; round < ROUNDS; round++) {
    assert.deepEqual(await statuses(both.map((on) => addVoice(on, {}, key))), [200, 400], "made once");
    const [asked, gone] = await Promise.all([
      statuses([...both, ...both].map(speak)),
      statuses(both.map((on) => deleteVoice(on, "Anna", key))),
    ]);
    for (const status of asked) assert.ok(status === 200 || status === 400, `spoken: ${status}`);
    assert.deepEqual(gone, [200, 404], "deleted once");
    assert.deepEqual(await statuses(both.map(speak)), [400, 400], "gone everywhere");
    assert.deepEqual(await server.tenancy.voices.listVoices(), []);
  }
});
