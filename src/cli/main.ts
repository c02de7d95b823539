#!/usr/bin/env node
import { runProgram } from "./program.ts";

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
process.exitCode = await runProgram(process.argv.slice(2), process);
