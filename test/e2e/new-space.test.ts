import assert from "node:assert/strict";
import { test } from "node:test";
import { antiphon } from "./program.ts";

/** Fills the main thread's new space at exit, and prints its size in MiB. */
const PRELOADED = `
  import { isMainThread } from "node:worker_threads";
  import { getHeapSpaceStatistics } from "node:v8";
  if (isMainThread) process.on("exit", () => {
    const survivors = [];
    for (let made = 0; made < 1e6; made++) survivors.push({ made });
    const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    process.stdout.write(\`\${survivors.length} \${space_size / 2 ** 20}\`);
  });`;

test("the main thread's new space stays below 16 MiB after a thread started", async () => {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOADED)}` };
  const { code, stdout } = await antiphon(["keys", "list", "--json"], { env });
  const sizeMib = Number(/^1000000 (\S+)$/m.exec(stdout)?.[1]);
  assert.equal(code, 0);
  // Usually 2 MiB: it may grow a little while the thread sets up its heap. Without the limit it grows to 32.
  assert.ok(sizeMib < 16, `${sizeMib} MiB`);
});
