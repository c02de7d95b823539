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

/** Groups of processes in which `npm start` runs, or has run and may have left something. */
const groups: number[] = [];

const endGroups = () => {
  for (const group of groups.splice(0)) if (isAlive(group)) process.kill(-group, "SIGKILL");
};
afterEach(endGroups);
process.on("exit", endGroups);

/** Whether any process of a group is left. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

/** Runs `npm start` with flags in a clone, and waits until its server listens. */
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

  it("builds a fresh clone and serves, and passes on flags", async () => {
    const { npm, url, exited, client } = await npmStart(clone);
    assert.doesNotMatch(url, /:8080$/, "the flag came through");
    assert.ok((await client.tts({ text: "It is built." })).length > 12_000);
    assert.equal((await client.usage()).requests, 1);
    npm.kill("SIGTERM");
    await exited;
  });

  // Bash gives way to what it runs by itself, as the sh of a Mac does; other shells have to be told to.
  const ways: readonly [how: string, npmFlags: string[], tell: (npmPid: number) => void][] = [
    ["when npm alone is told to, as a container does", [], (pid) => process.kill(pid, "SIGTERM")],
    ["with Ctrl-C, which a terminal sends to all that runs in it", [], (pid) => process.kill(-pid, "SIGINT")],
    ["with Ctrl-C in the shell of a Mac", ["--script-shell=bash"], (pid) => process.kill(-pid, "SIGINT")],
  ];
  for (const [how, npmFlags, tell] of ways) {
    it(`finishes what is being spoken and ends, ${how}`, async () => {
      const { npm, exited, client } = await npmStart(clone, ...npmFlags);
      const body = {
        conversation: [{ text: "And it says this to its end, whatever it is told meanwhile." }],
      };
      let last: string | undefined;
      for await (const { event } of client.stream(body)) {
        if (last === undefined) tell(npm.pid!);
        last = event;
      }
      assert.equal(last, "end");
      const [code] = await exited;
      assert.equal(isAlive(npm.pid!), false, "nothing of it is left");
      assert.equal(code, 0);
    });
  }
});
