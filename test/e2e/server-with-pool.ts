import { join } from "node:path";
import pino from "pino";
import { openTenancy } from "../../src/accounts/open.ts";
import { startServer } from "../../src/server/start-server.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { loadSettings } from "../../src/settings/load.ts";
import type { WorkerPool } from "../../src/workers/worker-pool.ts";
import { type Client, clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";

/** A server in this process, with the embedded voice in one thread. */
export interface ServerWithPool {
  readonly client: Client;
  readonly pool: WorkerPool;
  readonly url: string;
  readonly key: string;
  /** Frames of the voice, and those after the request was aborted. */
  readonly frames: { given: number; afterAbort: number };
  stop(): Promise<void>;
}

export async function startServerWithPool(): Promise<ServerWithPool> {
  const dataDir = join(temporaryFolder(), "data");
  const settings = loadSettings({ flags: { port: "0", workers: "1", dataDir } });
  const tenancy = await openTenancy(settings);
  const { key } = await tenancy.createKey({ label: "test", rpm: 100_000, burst: 100_000 });
  const pool = await openEmbeddedVoice({ threads: 1 });
  const frames = { given: 0, afterAbort: 0 };
  const watched: WorkerPool = {
    ...pool,
    async *speakEncoded(script, encoding, signal) {
      const speech = pool.speakEncoded(script, encoding, signal);
      try {
        for (;;) {
          const step = await speech.next();
          if (step.done) return step.value;
          // A file's header has no samples.
          if (step.value.sampleCount > 0) {
            frames.given++;
            if (signal.aborted) frames.afterAbort++;
          }
          yield step.value;
        }
      } finally {
        await speech.return({ stop: "length", spoken: "" });
      }
    },
  };
  const { url, stop } = await startServer({
    settings,
    tenancy,
    checkpoints: [{ name: "heart", memoryBytes: 1, load: async () => watched }],
    backend: { name: "heart", kind: "parametric" },
    logger: pino({ level: "silent" }),
  });
  return { client: clientOf(url, key), pool, url, key, frames, stop };
}
