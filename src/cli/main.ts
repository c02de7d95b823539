#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";

const manifest = new URL("../../../package.json", import.meta.url);
const wanted = JSON.parse(readFileSync(manifest, "utf8")).engines.node.replace(">=", "");
if (isOlder(process.versions.node, wanted)) {
  process.stderr.write(`Antiphon needs Node ${wanted} or newer; this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
limitNewSpace();
// onnxruntime would send events about its use to Microsoft. It reads this when a thread loads it.
process.env.ORT_DISABLE_TELEMETRY = "1";
// V8 resets this flag of the whole process whenever a thread sets up its heap.
process.on("worker", (worker) => worker.once("online", limitNewSpace));

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  // A reader that leaves early (`| head`) is not a failure, unless the command says so.
  if (code === "EPIPE") process.exit();
  process.stderr.write(`Standard output cannot be written (${code}).\n`);
  process.exit(1);
});
// Imported late, because it may not load in an older Node.
const { runProgram } = await import("./program.ts");
process.exitCode = await runProgram(process.argv.slice(2), process);

/**
 * Limits each half of V8's new space to 1 MB. It would double whenever that much survives, up to 16 MB, and never
 * shrink.
 */
function limitNewSpace(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Compares a version such as 20.19.0 with a minimum such as 20.19. */
function isOlder(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
