import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RecordingCrowdJob } from "./crowd-job.ts";
import { upload } from "./upload.ts";

/** Every eighth client leaves after so long, in milliseconds, wherever its recording is by then. */
const LEAVES_AFTER_MS = 1_500;
const LEAVING = 8;
/** From the end of an upload to the next one of the same client. */
const PAUSE_MS = 1_000;

/** Does what the first message says, tells that it has begun, and at the second says what came of it and ends. */
process.once("message", (job: RecordingCrowdJob) => {
  const files = job.files.map(({ name, path }) => ({ name, bytes: readFileSync(path) }));
  const tally: Record<string, Record<string, number>> = {};
  for (const [index, key] of job.keys.entries()) {
    for (let client = 0; client < job.clientsPerKey; client++) {
      const { name, bytes } = files[(index + client) % files.length]!;
      tally[name] ??= {};
      const leaveAfterMs = client % LEAVING === 0 ? LEAVES_AFTER_MS : null;
      void goOn({ url: job.url, key, bytes, leaveAfterMs }, tally[name]);
    }
  }
  process.send?.("begun");
  process.once("message", () => process.send?.(tally, () => process.exit()));
});
// Nobody is left to be told.
process.once("disconnect", () => process.exit());

async function goOn(one: Parameters<typeof upload>[0], outcomes: Record<string, number>): Promise<never> {
  for (;;) {
    const status = await upload(one);
    const outcome = status === null ? "left" : status === 0 ? "cut" : `${status}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    await sleep(PAUSE_MS);
  }
}
