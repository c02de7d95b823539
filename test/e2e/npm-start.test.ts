import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, before, describe, it } from "node:test";
import { launch } from "../children.ts";
import { clientOf } from "./client.ts";
import { installedClone } from "./clone.ts";
import { temporaryFolder } from "./folders.ts";
import { newcomersEnvironment } from "./program.ts";
import { listening, WITHOUT_MODELS } from "./server-process.ts";

/** Process groups of `npm start`. */
const groups: number[] = [];

const endGroups = () => {
  for (const group of groups.splice(0)) if (isAlive(group)) process.kill(-group, "SIGKILL");
};
afterEach(endGroups);
process.on("exit", endGroups);

function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** Runs `npm start` in a clone until its server listens. */
async function npmStart(clone: string, ...npmFlags: readonly string[]) {
  const dataDir = join(temporaryFolder(), "data");
  const env = {
    ...newcomersEnvironment(),
    ...WITHOUT_MODELS,
    ANTIPHON_DATA_DIR: dataDir,
    ANTIPHON_WORKERS: "1",
  };
  const npm = launch("npm", ["start", ...npmFlags, "--", "--port", "0"], { cwd: clone, env });
  groups.push(npm.pid!);
  const exited = once(npm, "exit");
  const { url, key } = await listening(npm, dataDir);
  return { npm, url, exited, client: clientOf(url, key) };
}

describe("`npm start`", () => {
  let clone: string;
  before(() => {
    clone = installedClone();
  });

  // Bash replaces itself by the command it runs, as the sh of macOS does; other shells have to be told to.
  const ways: readonly [how: string, npmFlags: string[], stop: (npmPid: number) => void][] = [
    ["SIGTERM to npm alone, as in a container", [], (pid) => process.kill(pid, "SIGTERM")],
    ["Ctrl-C in a shell of macOS", ["--script-shell=bash"], (pid) => process.kill(-pid, "SIGINT")],
    ["Ctrl-C in a terminal", [], (pid) => process.kill(-pid, "SIGINT")],
  ];
  for (const [how, npmFlags, stop] of ways) {
    it(`builds, passes flags on, and finishes its speech after ${how}`, async () => {
      const { npm, url, exited, client } = await npmStart(clone, ...npmFlags);
      assert.doesNotMatch(url, /:8080$/);
      const conversation = [{ text: "This is spoken to its end." }];
      let last: string | undefined;
      for await (const { event } of client.stream({ conversation })) {
        if (last === undefined) stop(npm.pid!);
        last = event;
      }
      assert.equal(last, "end");
      const [code] = await exited;
      assert.equal(isAlive(npm.pid!), false, "no process is left");
      assert.equal(code, 0);
    });
  }
});
