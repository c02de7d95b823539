import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { reportSharing } from "../../src/server/report-sharing.ts";
import { until } from "../waiting.ts";

const beatMs = 60;
const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function folder(): Promise<string> {
  folders.push(await mkdtemp(join(tmpdir(), "antiphon-another-")));
  return folders.at(-1)!;
}

describe("a server on a shared data directory", () => {
  /** Keeps the process alive, which the code under test does not. */
  let alive: NodeJS.Timeout;
  before(() => {
    alive = setInterval(() => {}, 60_000);
  });
  after(() => clearInterval(alive));

  test("is reported to the second, not the first", async () => {
    const dataDir = await folder();
    const first = new AbortController();
    const second = new AbortController();
    const notes: string[] = [];
    const note = (who: string) => (sentence: string) => notes.push(`${who}: ${sentence}`);
    const running = reportSharing({ dataDir, signal: first.signal, note: note("first"), beatMs });
    await until("the first", () => existsSync(join(dataDir, "server.running")));
    await reportSharing({ dataDir, signal: second.signal, note: note("second"), beatMs });
    assert.equal(notes.length, 1);
    assert.match(notes[0]!, new RegExp(`^second: Another server runs on the data directory ${dataDir}\\.`));
    first.abort();
    await running;
  });

  test("is not reported after it stopped", async () => {
    const dataDir = await folder();
    for (let server = 0; server < 2; server++) {
      const stop = new AbortController();
      const running = reportSharing({
        dataDir,
        signal: stop.signal,
        note: (sentence) => assert.fail(sentence),
        beatMs,
      });
      setTimeout(() => stop.abort(), 5 * beatMs);
      await running;
    }
  });

  test("is not reported after it died", async () => {
    const dataDir = await folder();
    await writeFile(join(dataDir, "server.running"), "somebody");
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 6 * beatMs);
    await reportSharing({ dataDir, signal: stop.signal, note: (sentence) => assert.fail(sentence), beatMs });
    assert.deepEqual(await readdir(dataDir), []);
  });

  test("is not looked for in a folder that cannot be written", async () => {
    const dataDir = join(await folder(), "nowhere", "at", "all");
    await reportSharing({
      dataDir,
      signal: new AbortController().signal,
      note: (sentence) => assert.fail(sentence),
      beatMs,
    });
  });
});
