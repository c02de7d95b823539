import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tellOfAnother } from "../../src/server/another-server.ts";

const TIMES = { lockPollMs: 50, lockStaleMs: 2_000 };
const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function folder(): Promise<string> {
  folders.push(await mkdtemp(join(tmpdir(), "antiphon-another-")));
  return folders.at(-1)!;
}

test("the second server on a data directory is told, and the first is not", async () => {
  const dataDir = await folder();
  const first = new AbortController();
  const second = new AbortController();
  const notes: string[] = [];
  const note = (who: string) => (sentence: string) => notes.push(`${who}: ${sentence}`);
  const running = tellOfAnother({ dataDir, signal: first.signal, note: note("first"), times: TIMES });
  // Both ask for the lock, one after the other.
  await new Promise((resolve) => setImmediate(resolve));
  await tellOfAnother({ dataDir, signal: second.signal, note: note("second"), times: TIMES });
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, new RegExp(`^second: Another server runs on the data directory ${dataDir}\\.`));
  first.abort();
  await running;
});

test("one that comes after it has stopped is not told", async () => {
  const dataDir = await folder();
  for (let server = 0; server < 2; server++) {
    const stop = new AbortController();
    const running = tellOfAnother({
      dataDir,
      signal: stop.signal,
      note: (sentence) => assert.fail(sentence),
      times: TIMES,
    });
    setImmediate(() => stop.abort());
    await running;
  }
});

test("a folder that cannot be written to is passed over", async () => {
  const dataDir = join(await folder(), "nowhere", "at", "all");
  const { signal } = new AbortController();
  await tellOfAnother({ dataDir, signal, note: (sentence) => assert.fail(sentence), times: TIMES });
});
