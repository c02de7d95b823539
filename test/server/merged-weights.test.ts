import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, it } from "node:test";
import { mergedBytes, removeOtherMerged } from "../../src/catalogue/merged-file.ts";
import { withLock } from "../../src/catalogue/pull/lock.ts";
import { PullError } from "../../src/catalogue/pull/pull-error.ts";
import { type MergeInputs, mergedWeights } from "../../src/server/merged-weights.ts";
import { mergeAdapter } from "../../src/writers/gguf/merge-adapter.ts";
import { HASTY, sha256 } from "../catalogue/pull/fixture.ts";
import { until } from "../waiting.ts";
import { tinyAdapter, tinyBase } from "../writers/gguf/tiny-files.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-merged-"));
after(() => rmSync(folder, { recursive: true }));
let places = 0;

const BASE = tinyBase();

/** A model that is installed, and an adapter elsewhere. */
function place(changed: Partial<MergeInputs> = {}): MergeInputs & { readonly left: () => string[] } {
  const root = join(folder, `${places++}`);
  const dir = join(root, "tiny");
  mkdirSync(dir, { recursive: true });
  const base = join(dir, "tiny.gguf");
  const adapterPath = join(root, "adapter.gguf");
  writeFileSync(base, BASE);
  writeFileSync(adapterPath, tinyAdapter());
  return {
    base: { path: base, sha256: sha256(BASE) },
    adapterPath,
    dir,
    lock: join(root, ".tiny.lock"),
    signal: new AbortController().signal,
    ...changed,
    left: () => readdirSync(dir).sort(),
  };
}

/** What merging by hand makes of the same. */
function expected({ base, adapterPath }: MergeInputs): Buffer {
  const outPath = join(folder, "by-hand.gguf");
  mergeAdapter({ basePath: base.path, adapterPath, outPath });
  return readFileSync(outPath);
}

describe("a model that is merged with its adapter", () => {
  it("is made beside the model, once", async () => {
    const inputs = place();
    const first = await mergedWeights(inputs);
    assert.equal(first.isNew, true);
    assert.deepEqual(readFileSync(first.path), expected(inputs));
    const { mtimeMs } = statSync(first.path);
    assert.deepEqual(await mergedWeights(inputs), { path: first.path, isNew: false });
    assert.equal(statSync(first.path).mtimeMs, mtimeMs);
    assert.equal(inputs.left().length, 2);
    assert.ok(!existsSync(inputs.lock));
    assert.equal(await mergedBytes(inputs.dir), statSync(first.path).size);
  });

  it("is found without the model, and where nothing can be written", async () => {
    const inputs = place();
    const { path } = await mergedWeights(inputs);
    rmSync(inputs.base.path);
    const lock = join(folder, "no-such-folder", "lock");
    assert.deepEqual(await mergedWeights({ ...inputs, lock }), { path, isNew: false });
  });

  it("is another one with another adapter or another model, and leaves the others to whoever made them", async () => {
    const inputs = place();
    const { path } = await mergedWeights(inputs);
    writeFileSync(inputs.adapterPath, tinyAdapter(0.5));
    const second = await mergedWeights(inputs);
    assert.notEqual(second.path, path);
    assert.deepEqual(readFileSync(second.path), expected(inputs));
    const third = await mergedWeights({ ...inputs, base: { ...inputs.base, sha256: "another" } });
    assert.notEqual(third.path, second.path);
    assert.equal(inputs.left().length, 4);
    for (const made of [path, second.path]) assert.ok(existsSync(made));
    await removeOtherMerged(third.path);
    assert.deepEqual(inputs.left(), [basename(third.path), "tiny.gguf"].sort());
  });

  const damages: Record<string, (path: string) => void> = {
    "was cut short": (path) => truncateSync(path, statSync(path).size - 1),
    "is empty": (path) => truncateSync(path, 0),
    "has another byte": (path) => {
      const bytes = readFileSync(path);
      bytes[700]! ^= 1;
      writeFileSync(path, bytes);
    },
    "has a byte too many": (path) => writeFileSync(path, Buffer.alloc(1), { flag: "a" }),
    "has another name": (path) => renameSync(path, path.replace(/-[0-9a-f]{4}(?=[0-9a-f]{28}\.)/, "-0000")),
  };
  for (const [how, damage] of Object.entries(damages)) {
    it(`is made again where it ${how}`, async () => {
      const inputs = place();
      const { path } = await mergedWeights(inputs);
      damage(path);
      assert.deepEqual(await mergedWeights(inputs), { path, isNew: true });
      assert.deepEqual(readFileSync(path), expected(inputs));
      assert.equal(inputs.left().length, 2);
    });
  }

  it("is made once by many that want it at once", async () => {
    const inputs = place();
    const all = await Promise.all(Array.from({ length: 4 }, () => mergedWeights(inputs)));
    assert.equal(new Set(all.map(({ path }) => path)).size, 1);
    assert.equal(all.filter(({ isNew }) => isNew).length, 1);
    assert.equal(inputs.left().length, 2);
  });

  it("waits for another that has the lock, and says so once", async () => {
    let waits = 0;
    const inputs = place({ onWait: () => waits++ });
    const end = await withLock(inputs.lock, HASTY, inputs.signal, assert.fail, async () => {
      const merging = mergedWeights(inputs);
      await until("it to wait", () => waits > 0);
      assert.deepEqual(inputs.left(), ["tiny.gguf"]);
      return { merging };
    });
    assert.equal((await end.merging).isNew, true);
    assert.equal(waits, 1);
  });

  it("does not wait for one that died with the lock", async () => {
    const inputs = place({ onWait: assert.fail });
    mkdirSync(inputs.lock);
    const secondsAgo = Date.now() / 1_000 - 11;
    utimesSync(inputs.lock, secondsAgo, secondsAgo);
    assert.equal((await mergedWeights(inputs)).isNew, true);
    assert.ok(!existsSync(inputs.lock));
  });

  it("is made over what one that was killed left, and leaves alone what is no business of its own", async () => {
    const inputs = place();
    writeFileSync(join(inputs.dir, `merged-${"0".repeat(16)}-8c1e.part`), "cut");
    for (const name of ["speed.json", "merged.gguf", "merged-of-mine.gguf"]) {
      writeFileSync(join(inputs.dir, name), "{}");
    }
    const { path } = await mergedWeights(inputs);
    const others = ["merged-of-mine.gguf", "merged.gguf", "speed.json", "tiny.gguf"];
    assert.deepEqual(inputs.left(), [basename(path), ...others].sort());
    assert.equal(await mergedBytes(inputs.dir), statSync(path).size);
  });
});

describe("where a model cannot be merged", () => {
  const refused = async (inputs: MergeInputs): Promise<Error> => {
    const end = await mergedWeights(inputs).catch((error: unknown) => error);
    assert.ok(end instanceof Error, "it was merged");
    return end;
  };

  it("there is said to be too little room before anything is written", async () => {
    const inputs = place({ freeBytes: async () => 1_000 });
    const error = await refused(inputs);
    assert.ok(error instanceof PullError);
    assert.match(
      error.message,
      /^The disk that holds .* has 0\.0 MB free, and 0\.0 MB are needed: make room/,
    );
    assert.deepEqual(inputs.left(), ["tiny.gguf"]);
  });

  it("the folder is named, and what to do", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    const error = await refused(place({ dir: file }));
    assert.ok(error instanceof PullError);
    assert.match(error.message, /file cannot be written \(ENOTDIR\): mend the folder, or choose another one/);
    const locked = await refused(place({ lock: join(file, "lock") }));
    assert.match(locked.message, /cannot be written/);
  });

  it("what is wrong with a file is told, and nothing is left", async () => {
    const inputs = place();
    truncateSync(inputs.adapterPath, 100);
    const { message } = await refused(inputs);
    assert.match(
      message,
      /cannot be merged: one of them cannot be read, is damaged, .*adapter\.gguf is cut short\)$/,
    );
    assert.deepEqual(inputs.left(), ["tiny.gguf"]);
    rmSync(inputs.adapterPath);
    assert.match((await refused(inputs)).message, /ENOENT.*adapter\.gguf/);
  });

  it("what cannot be read is not said to be what cannot be written", async () => {
    const inputs = place();
    rmSync(inputs.base.path);
    assert.match((await refused(inputs)).message, /^ENOENT.*tiny\.gguf/);
    mkdirSync(inputs.base.path);
    assert.match(
      (await refused(inputs)).message,
      /cannot be merged: .*tiny\.gguf cannot be read \(EISDIR\)\)$/,
    );
    assert.deepEqual(inputs.left(), ["tiny.gguf"]);
  });

  it("because whoever wanted it has gone, its reason is thrown, and nothing is left", async () => {
    const leaving = new AbortController();
    const reason = new Error("gone");
    // Asked between the lock and the process that merges.
    const freeBytes = async () => {
      setImmediate(() => leaving.abort(reason));
      return 1e9;
    };
    const inputs = place({ signal: leaving.signal, freeBytes });
    assert.equal(await refused(inputs), reason);
    assert.deepEqual(inputs.left(), ["tiny.gguf"]);
    assert.equal(await refused(inputs), reason);
  });
});
