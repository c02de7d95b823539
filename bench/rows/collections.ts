import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runLoad } from "../load/load-job.ts";
import { median } from "../load/percentile.ts";
import { startServerProcess } from "../load/server-process.ts";
import { tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

const REQUESTS = 40;
const MOST = 3;

/** Full collections of all of a server's heaps. */
export const collections: Row = {
  id: "collections",
  what: `full garbage collections in all threads of a server in ${REQUESTS} requests of ten words, once it is warm`,
  goal: `≤ ${MOST}`,
  async measure({ isQuick }) {
    const folder = mkdtempSync(join(tmpdir(), "antiphon-collections-"));
    const file = join(folder, "collections");
    writeFileSync(file, "");
    process.env.COLLECTIONS_FILE = file;
    const watch = join(TOP, "dist", "bench", "collections-watch.js");
    const serve = {
      command: process.execPath,
      args: ["--import", watch, join(TOP, "dist", "src", "cli", "main.js"), "serve", "--no-pull"],
      cwd: TOP,
      isWrapper: false,
    };
    try {
      const server = await startServerProcess({ serve });
      try {
        const ask = () => runLoad({ ...tenWords(server, 1), requests: REQUESTS });
        await ask();
        const counts: number[] = [];
        for (let block = 0; block < (isQuick ? 2 : 5); block++) {
          const before = readFileSync(file).length;
          await ask();
          counts.push(readFileSync(file).length - before);
        }
        return {
          measured: `${median(counts)} (median of ${counts.length} times ${REQUESTS}: ${counts.join(", ")})`,
          isMet: median(counts) <= MOST,
        };
      } finally {
        await server.stop();
      }
    } finally {
      delete process.env.COLLECTIONS_FILE;
      rmSync(folder, { recursive: true });
    }
  },
};
