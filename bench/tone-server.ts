import { Command } from "commander";
import pino from "pino";
import { openTenancy } from "../src/accounts/open.ts";
import { workerCount } from "../src/limits/server-limits.ts";
import { embeddedCheckpoint } from "../src/models/installed-checkpoint.ts";
import { startServer } from "../src/server/start-server.ts";
import { loadSettings } from "../src/settings/load.ts";
import { createWorkerPool } from "../src/workers/worker-pool.ts";

/** The whole service, with threads, log and database as it is served, over an engine that costs next to nothing. */
new Command("tone-server")
  .requiredOption("--port <n>")
  .requiredOption("--data-dir <dir>")
  .action(async (flags: { port: string; dataDir: string }) => {
    const settings = loadSettings({ flags });
    const server = await startServer({
      settings,
      tenancy: await openTenancy(settings),
      checkpoints: [
        {
          name: embeddedCheckpoint.name,
          memoryBytes: 1,
          load: () =>
            createWorkerPool({
              entry: new URL("../test/core/tone-model.js", import.meta.url),
              create: {},
              size: workerCount(settings),
            }),
        },
      ],
      backend: { name: "tone", kind: "measurement" },
      logger: pino({ level: settings.logLevel }, pino.destination({ dest: 2, sync: false })),
    });
    process.once("SIGTERM", () => void server.stop());
    process.stdout.write(`Antiphon is listening on ${server.url}\n`);
  })
  .parse();
