import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import type { WriterManifest } from "../../../src/models/checkpoint-manifest.ts";
import { lockPath } from "../../../src/models/download/lock.ts";
import { removeCheckpoint } from "../../../src/models/download/pull.ts";
import { until, within } from "../../waiting.ts";
import { type Answer, cut, file, fileServer } from "./file-server.ts";
import { HASTY, leftOf, placed, pull, WEIGHTS } from "./fixture.ts";

/** A response that starts at once and ends on `letGo`. */
function heldAnswer() {
  let letGo = () => {};
  let begun = () => {};
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const answer: Answer = (response) => {
    response.writeHead(200, { "content-length": WEIGHTS.length });
    response.write(WEIGHTS.subarray(0, 10_000));
    letGo = () => response.end(WEIGHTS.subarray(10_000));
    begun();
  };
  return { answer, isBegun, letGo: () => letGo() };
}

/** A started pull that continues when its source does. */
async function begunPull() {
  const held = heldAnswer();
  const { manifest, dataDir } = await fileServer(held.answer);
  const first = pull(manifest, dataDir);
  await held.isBegun;
  return { held, manifest, dataDir, first };
}

/** Pulls in another process, which prints each event's kind and the outcome. */
function pullElsewhere(manifest: WriterManifest, dataDir: string, before = "") {
  const module = new URL("../../../src/models/download/pull.js", import.meta.url).href;
  const script = `
    import { pullCheckpoint } from ${JSON.stringify(module)};
    const abort = new AbortController();
    ${before}
    const observe = ({ kind }) => console.log(kind);
    const options = { dataDir: ${JSON.stringify(dataDir)}, times: ${JSON.stringify(HASTY)}, signal: abort.signal };
    const end = await pullCheckpoint(${JSON.stringify(manifest)}, { ...options, observe }).catch((e) => e.message);
    console.log("end: " + end);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  const said = async (wanted: string) => {
    await until(`the pull to say ${wanted}`, () => lines.includes(wanted));
  };
  return { child, lines, said, closed };
}

describe("concurrent pulls of one checkpoint", () => {
  it("in two processes: the second waits, reports it, and finds the checkpoint installed", async () => {
    const held = heldAnswer();
    const { asked, manifest, dataDir } = await fileServer(held.answer);
    const first = pullElsewhere(manifest, dataDir);
    await held.isBegun;
    const second = pullElsewhere(manifest, dataDir);
    await second.said("waiting");
    held.letGo();
    await within("both pulls to end", Promise.all([first.closed, second.closed]));
    assert.equal(first.lines.at(-1), "end: installed");
    assert.deepEqual(second.lines, ["waiting", "end: already-installed"]);
    assert.deepEqual([asked, leftOf(manifest, dataDir)], [[null], ["tiny.gguf"]]);
  });

  it("in one process fetch the file once", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    const ends = await Promise.all([
      pull(manifest, dataDir),
      pull(manifest, dataDir),
      pull(manifest, dataDir),
    ]);
    assert.deepEqual(ends.map(({ end }) => end).sort(), [
      "already-installed",
      "already-installed",
      "installed",
    ]);
    assert.deepEqual(asked, [null]);
  });

  it("let the second resume where the first failed", async () => {
    const { asked, manifest, dataDir } = await fileServer(
      cut(10_000),
      cut(0),
      cut(0),
      cut(0),
      cut(0),
      file(),
    );
    const ends = await Promise.all([pull(manifest, dataDir), pull(manifest, dataDir)]);
    assert.equal(ends.filter(({ end }) => end === "installed").length, 1);
    assert.equal(asked.at(-1), 10_000);
  });

  it("can be aborted while waiting", async () => {
    const { held, manifest, dataDir, first } = await begunPull();
    const abort = new AbortController();
    const observe = ({ kind }: { kind: string }) => {
      if (kind === "waiting") abort.abort(new Error("enough"));
    };
    assert.equal((await pull(manifest, dataDir, { signal: abort.signal, observe })).end, "enough");
    held.letGo();
    assert.equal((await first).end, "installed");
  });
});

describe("the lock", () => {
  it("of a killed pull expires, and the next pull resumes its download", async () => {
    const held = heldAnswer();
    const { asked, manifest, dataDir } = await fileServer(held.answer, file());
    const killed = pullElsewhere(manifest, dataDir);
    await killed.said("progress");
    killed.child.kill("SIGKILL");
    await within("the killed pull's end", killed.closed);
    const { end, events } = await pull(manifest, dataDir);
    assert.deepEqual([end, events[0]?.kind], ["installed", "waiting"]);
    assert.ok((asked[1] ?? 0) > 0, "the beginning is not fetched twice");
    assert.ok(placed(manifest, dataDir).equals(WEIGHTS));
  });

  it("stops a pull that has lost it, and keeps the partial file", async () => {
    const { manifest, dataDir, first } = await begunPull();
    rmdirSync(lockPath(manifest, dataDir));
    const { end, left } = await first;
    assert.match(end, /^Another process has begun to install the same checkpoint: wait for it/);
    assert.deepEqual(left, ["tiny.gguf.part"]);
  });

  it("blocks removal of a checkpoint during its pull", async () => {
    const { held, manifest, dataDir, first } = await begunPull();
    await assert.rejects(removeCheckpoint(manifest, dataDir), /tiny is being installed by another process/);
    held.letGo();
    assert.equal((await first).end, "installed");
  });

  it("does not delay process exit on SIGTERM", async () => {
    const held = heldAnswer();
    const { manifest, dataDir } = await fileServer(held.answer);
    const server = pullElsewhere(
      manifest,
      dataDir,
      `process.once("SIGTERM", () => abort.abort(new Error("stopped")));`,
    );
    await server.said("progress");
    server.child.kill("SIGTERM");
    assert.deepEqual(await within("the pull's end", server.closed), [0, null]);
    assert.equal(server.lines.at(-1), "end: stopped");
  });
});

describe("an aborted pull", () => {
  it("keeps only the partial file", async () => {
    const held = heldAnswer();
    const { asked, manifest, dataDir } = await fileServer(held.answer, file());
    const abort = new AbortController();
    const observe = ({ kind }: { kind: string }) => {
      if (kind === "progress") abort.abort(new Error("enough"));
    };
    const { end, left } = await pull(manifest, dataDir, { signal: abort.signal, observe });
    assert.deepEqual([end, left], ["enough", ["tiny.gguf.part"]]);
    assert.deepEqual([(await pull(manifest, dataDir)).end, asked], ["installed", [null, 10_000]]);
  });

  it("leaves no folder if nothing was fetched", async () => {
    const { manifest, dataDir } = await fileServer(() => abort.abort(new Error("enough")));
    const abort = new AbortController();
    const { end, left } = await pull(manifest, dataDir, { signal: abort.signal });
    assert.deepEqual([end, left], ["enough", null]);
  });

  it("touches nothing if it was aborted before it began", async () => {
    const { asked, manifest, dataDir } = await fileServer(file());
    const { end, left } = await pull(manifest, dataDir, {
      signal: AbortSignal.abort(new Error("no")),
    });
    assert.deepEqual([end, left, asked], ["no", null, []]);
  });
});
