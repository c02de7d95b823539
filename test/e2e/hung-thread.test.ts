import assert from "node:assert/strict";
import { it } from "node:test";
import { until } from "../waiting.ts";
import { clientOf, okay } from "./client.ts";
import { startServerProcess } from "./server-process.ts";

const FAULTY = new URL("../workers/faulty-model.js", import.meta.url).href;

/** Replaces the embedded voice by a model that does what its text says. */
const WITH_FAULTY_MODEL = `
  import threads from "node:worker_threads";
  import { syncBuiltinESMExports } from "node:module";
  const { Worker } = threads;
  const create = { counters: new Int32Array(new SharedArrayBuffer(64)) };
  threads.Worker = class extends Worker {
    constructor(url, options) {
      const isSpeech = options?.name === "speech";
      const workerData = { ...options?.workerData, entry: ${JSON.stringify(FAULTY)}, create };
      super(url, isSpeech ? { ...options, workerData } : options);
    }
  };
  syncBuiltinESMExports();
`;

const env = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WITH_FAULTY_MODEL)}`,
  ANTIPHON_SHUTDOWN_GRACE_MS: "500",
  ANTIPHON_GENERATION_TIMEOUT_MS: "60000",
};

for (const [how, text] of [
  ["loops forever", "spin"],
  ["blocks", "block"],
  ["never finishes a frame", "never"],
] as const) {
  it(`a server with a thread that ${how} exits with 0 on SIGTERM`, async () => {
    const server = await startServerProcess({ env });
    const client = clientOf(server.url, server.key);
    const stream = client.stream({ conversation: [{ text }] });
    while ((await stream.next()).value?.event !== "audio");
    const rest = (async () => {
      for await (const _ of stream);
    })();
    const { code } = await server.stop();
    await rest.catch(() => {});
    assert.equal(code, 0, server.stderr());
  });
}

it("a server is unready while its only thread hangs, then replaces it", async () => {
  const server = await startServerProcess({ env });
  const client = clientOf(server.url, server.key);
  const isReady = async () => (await okay(await client.get("/health"))).ready;
  assert.equal(await isReady(), true);
  const failed = client.post("/v1/tts", { text: "block" });
  await until("a server that cannot speak", async () => !(await isReady()));
  assert.equal((await failed).status, 502);
  await until("a server that can speak", isReady);
  const stream = client.stream({ conversation: [{ text: "speak" }] });
  while ((await stream.next()).value?.event !== "audio");
  await stream.return();
  assert.match(server.stderr(), /"kind":"hung"/);
  assert.equal((await server.stop()).code, 0);
});
