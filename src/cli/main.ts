#!/usr/bin/env node
import { runProgram } from "./program.ts";

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`| head`) is no failure, unless the command has said that it is.
  if (code === "EPIPE") process.exit();
  process.stderr.write(`Standard output cannot be written (${code}).\n`);
  process.exit(1);
});
process.exitCode = await runProgram(process.argv.slice(2), process);
