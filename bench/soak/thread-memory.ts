import { renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { threadId } from "node:worker_threads";

// Preloaded by every thread of the server. Each replaces its own file in this folder, every 10 s.
const folder = process.env.THREAD_MEMORY_FOLDER;
if (folder !== undefined) {
  const file = join(folder, `${process.pid}-${threadId}.json`);
  setInterval(() => {
    const thread = `${basename(process.argv[1] ?? "", ".js")} ${threadId}`;
    writeFileSync(`${file}.part`, JSON.stringify({ thread, atMs: Date.now(), ...process.memoryUsage() }));
    renameSync(`${file}.part`, file);
  }, 10_000).unref();
  process.once("exit", () => rmSync(file, { force: true }));
}
