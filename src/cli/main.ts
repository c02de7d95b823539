#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { runProgram } from "./program.ts";

// What is new stays in 1 MB a half: it would double each time that much of it survives, to 16 and more, and keep that.
setFlagsFromString("--semi-space-growth-factor=1");

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`| head`) is no failure, unless the command has said that it is.
  if (code === "EPIPE") process.exit();
  process.stderr.write(`Standard output cannot be written (${code}).\n`);
  process.exit(1);
});
process.exitCode = await runProgram(process.argv.slice(2), process);
