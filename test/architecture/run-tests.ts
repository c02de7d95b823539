import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { allGroups, fastGroups } from "./groups.ts";
import { TOP } from "./top.ts";

const [which, ...options] = process.argv.slice(2);
if (which !== "all" && which !== "fast") {
  process.stderr.write("Say which tests to run, all or fast, and then the options of node --test.\n");
  process.exit(2);
}

const child = spawn(
  process.execPath,
  [
    "--test",
    // Many tests wait: for a thread to be given up, for a client that reads nothing.
    `--test-concurrency=${availableParallelism() + 1}`,
    "--test-timeout=600000",
    ...options,
    ...(which === "all" ? allGroups() : fastGroups()),
  ],
  { cwd: TOP, stdio: "inherit" },
);
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});
