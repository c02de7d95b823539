import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { within } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { TOP, temporaryFolder } from "./folders.ts";
import { launch, newcomersEnvironment } from "./program.ts";
import { listening, WITHOUT_WRITER } from "./server-process.ts";

/** What a clone has, or will have once all is committed; in an archive, what was neither installed nor built. */
function partsOfAClone(): string[] {
  if (existsSync(join(TOP, ".git")))
    return execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: TOP,
      encoding: "utf8",
    })
      .split("\0")
      .filter(Boolean);
  return readdirSync(TOP).filter((name) => !["node_modules", "dist", "shared"].includes(name));
}

/** A clone in which `npm ci` has run. */
function installedClone(): string {
  const clone = temporaryFolder();
  for (const part of partsOfAClone()) {
    if (existsSync(join(TOP, part))) cpSync(join(TOP, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(TOP, "node_modules"), join(clone, "node_modules"));
  return clone;
}

it("`npm start` builds a fresh clone and serves, passes on flags, and ends with Ctrl-C", {
  timeout: 60_000,
}, async () => {
  const clone = installedClone();
  const dataDir = join(temporaryFolder(), "data");
  const env = {
    ...newcomersEnvironment(),
    ...WITHOUT_WRITER,
    ANTIPHON_DATA_DIR: dataDir,
    ANTIPHON_WORKERS: "1",
  };
  const npm = launch("npm", ["start", "--", "--port", "0"], { cwd: clone, env });
  const server = await listening(npm, dataDir);
  assert.doesNotMatch(server.url, /:8080$/, "the flag came through");
  const client = clientOf(server.url, server.key);
  assert.ok((await client.tts({ text: "It is built." })).length > 12_000);
  assert.equal((await client.usage()).requests, 1);
  let last: string | undefined;
  for await (const { event } of client.stream({ conversation: [{ text: "And it says this to its end." }] })) {
    // A terminal sends the signal to everything that runs in it, not to npm alone.
    if (last === undefined) process.kill(-npm.pid!, "SIGINT");
    last = event;
  }
  assert.equal(last, "end");
  await within("the end of npm start", server.ended);
  await assert.rejects(client.get("/health"), "nothing of it is left");
});
