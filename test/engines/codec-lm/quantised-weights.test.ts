import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openQuantised, type Quantisation } from "../../../src/engines/codec-lm/quantised-weights.ts";
import { openWeights } from "../../../src/onnx/weights-folder.ts";
import { type TensorGroup, writeSafetensors } from "../../../src/onnx/write-safetensors.ts";
import { launch } from "../../children.ts";
import { blocksInJavaScript } from "../../onnx/blocks-in-javascript.ts";
import { within } from "../../waiting.ts";
import { LARGE, largeWeights } from "./large-weights.ts";

const PROCESS = fileURLToPath(new URL("./quantising-process.js", import.meta.url));
const { signal } = new AbortController();

const top = await mkdtemp(join(tmpdir(), "antiphon-"));
const large = await largeWeights();
after(async () => {
  await rm(top, { recursive: true });
  await rm(large, { recursive: true });
});

let cacheFolder: string;
let folders = 0;
beforeEach(() => {
  cacheFolder = join(top, `cache ${folders++}`);
});

const SMALL: Quantisation = {
  matrices: [
    { name: "a.weight", bits: 4 },
    { name: "b.weight", bits: 8 },
  ],
  stacks: [{ name: "heads.weight", bits: 8 }],
  kept: ["norm.weight"],
};

const SHAPES = { "a.weight": [3, 64], "b.weight": [2, 40], "heads.weight": [2, 32, 5], "norm.weight": [4] };

const numbersOf = (name: string, shape: readonly number[]): Float32Array =>
  Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, (_, at) =>
    Math.sin(at * name.length),
  );

/** Small weights in a new folder. */
async function smallWeights(changed: Readonly<Record<string, Float32Array>> = {}): Promise<string> {
  const folder = await mkdtemp(join(top, "weights-"));
  const makings = Object.entries(SHAPES).map(
    ([name, shape]): TensorGroup => ({
      tensors: [{ name, dtype: "F32", shape }],
      make: () => [new Uint8Array((changed[name] ?? numbersOf(name, shape)).buffer)],
    }),
  );
  await writeSafetensors(join(folder, "model.safetensors"), makings);
  return folder;
}

/** Opens quantised weights for a callback. */
async function opened<T>(
  folder: string,
  look: (quantised: Awaited<ReturnType<typeof openQuantised>>) => T | Promise<T>,
  quantisation = SMALL,
): Promise<T> {
  const weights = await openWeights(folder, "model.safetensors");
  try {
    const quantised = await openQuantised(weights, quantisation, cacheFolder, signal);
    try {
      return await look(quantised);
    } finally {
      await quantised.close();
    }
  } finally {
    await weights.close();
  }
}

const made = async (): Promise<string[]> => (await readdir(cacheFolder)).sort();

/** A process that quantises the large weights, and its lines. */
function quantising(midway: string, shell: readonly string[] = []) {
  const [command, ...args] = [...shell, process.execPath, PROCESS, large, cacheFolder, midway];
  const child = launch(command!, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    child,
    ended: once(child, "close"),
    line: async () => String((await within("a line", lines.next())).value),
  };
}

test("openQuantised quantises matrices and stacks, and keeps the rest", async () => {
  await opened(await smallWeights(), async (quantised) => {
    const bytesOf = async (name: string): Promise<Uint8Array> => {
      const { from, bytes, file } = quantised.variables.get(name)!;
      return (await readFile(join(quantised.folder, file))).subarray(from, from + bytes);
    };
    const check = async (name: string, numbers: Float32Array, rows: number, columns: number, bits: 4 | 8) => {
      const { data, scales } = blocksInJavaScript(numbers, rows, columns, bits);
      assert.deepEqual(new Uint8Array(await bytesOf(`${name}.data`)), data);
      assert.deepEqual(await quantised.read(`${name}.scales`), scales);
    };
    await check("a.weight", numbersOf("a.weight", SHAPES["a.weight"]), 3, 64, 4);
    await check("b.weight", numbersOf("b.weight", SHAPES["b.weight"]), 2, 40, 8);
    const heads = numbersOf("heads.weight", SHAPES["heads.weight"]);
    for (const part of [0, 1]) {
      const turned = Float32Array.from({ length: 160 }, (_, at) => {
        return heads[part * 160 + (at % 32) * 5 + Math.floor(at / 32)]!;
      });
      await check(`heads.weight.${part}`, turned, 5, 32, 8);
    }
    assert.deepEqual(await quantised.read("norm.weight"), numbersOf("norm.weight", [4]));
  });
});

test("openQuantised quantises once, and again for a damaged file", async () => {
  const folder = await smallWeights();
  const path = await opened(folder, (quantised) =>
    join(quantised.folder, [...quantised.variables.values()][0]!.file),
  );
  const [whole, { ino }] = [await readFile(path), await stat(path)];
  await opened(folder, () => {});
  assert.equal((await stat(path)).ino, ino);
  for (const damaged of [
    whole.subarray(0, -1),
    Buffer.concat([whole, whole]),
    whole.map((byte, at) => (at === 700 ? byte ^ 4 : byte)),
    Buffer.alloc(0),
  ]) {
    await writeFile(path, damaged);
    await opened(folder, () => {});
    assert.deepEqual(await readFile(path), whole);
  }
  assert.equal((await made()).length, 1);
});

describe("openQuantised", () => {
  for (const name of ["a.weight", "heads.weight", "norm.weight"] as const) {
    test(`rejects a non-finite number in ${name}, and keeps nothing`, async () => {
      const numbers = numbersOf(name, SHAPES[name]);
      numbers[numbers.length - 1] = Number.NaN;
      const folder = await smallWeights({ [name]: numbers });
      const message = `Error: ${name.replace(".", "\\.")} has numbers that are infinite or none: .*fetch it again`;
      await assert.rejects(
        opened(folder, () => {}),
        new RegExp(message),
      );
      assert.deepEqual(await made(), []);
    });
  }
});

test("openQuantised removes caches of changed or missing weights and of another version, and no others", async () => {
  const [mine, changing, going, staying] = await Promise.all([0, 1, 2, 3].map(() => smallWeights()));
  for (const folder of [mine!, changing!, going!, staying!]) await opened(folder, () => {});
  await opened(mine!, () => {}, { ...SMALL, stacks: [] });
  const before = await made();
  assert.equal(before.length, 5);
  const versions = [
    { version: 1, folder: mine, files: [] },
    { version: 1, folder: staying, files: [] },
  ];
  for (const [at, origin] of versions.entries()) {
    const metadata = { made_of: JSON.stringify(origin) };
    await writeSafetensors(join(cacheFolder, `version-${at}.safetensors`), [], metadata);
  }
  await writeSafetensors(join(cacheFolder, "somebody's.safetensors"), []);
  await writeFile(join(cacheFolder, "notes.txt"), "");
  await utimes(join(changing!, "model.safetensors"), 1, 1);
  await rm(going!, { recursive: true });

  // Nothing is quantised, so nothing is removed.
  await opened(mine!, () => {});
  assert.equal((await made()).length, 9);
  await opened(mine!, () => {}, { ...SMALL, kept: [] });
  const after = await made();
  for (const stays of ["notes.txt", "somebody's.safetensors", "version-1.safetensors"])
    assert.ok(after.includes(stays), stays);
  assert.equal(after.filter((name) => before.includes(name)).length, 3);
  assert.equal(after.length, 7);
  await opened(changing!, () => {});
  assert.equal((await made()).length, 8);
});

describe("A quantising process", () => {
  test("leaves a draft when it is killed, which the next one removes", async () => {
    const dying = quantising("hang");
    assert.equal(await dying.line(), "midway");
    const folder = await smallWeights();
    await opened(folder, () => {});
    assert.equal((await made()).filter((name) => name.endsWith(".part")).length, 1);
    dying.child.kill("SIGKILL");
    await within("its end", dying.ended);
    await opened(folder, () => {});
    assert.equal((await made()).filter((name) => name.endsWith(".part")).length, 0);
    assert.equal((await made()).length, 1);
  });

  test("may run twice at once", async () => {
    const both = [quantising("wait"), quantising("wait")];
    for (const each of both) assert.equal(await each.line(), "midway");
    for (const { child } of both) child.stdin!.end("go on");
    for (const each of both) assert.equal(await each.line(), "opened 4 tensors");
    for (const each of both) await within("its end", each.ended);
    assert.equal((await made()).length, 1);
  });
});

test("openQuantised removes drafts of other machines and of this process once they are stale", async () => {
  const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
  const uuid = "01234567-89ab-cdef-0123-456789abcdef";
  const name = (mark: string): string => `${"0".repeat(32)}.safetensors.${mark}.${uuid}.part`;
  const drafts = {
    elsewhere: name(`ffffffff.${process.pid}`),
    elsewhereOld: name("fffffff0.1"),
    own: name(`${host}.${process.pid}`),
    ownNumberBefore: name(`${host}.${process.pid}`).replace("0123-456", "0123-457"),
    other: "somebody's.part",
  };
  await mkdir(cacheFolder);
  for (const draft of Object.values(drafts)) await writeFile(join(cacheFolder, draft), "");
  const ago = (s: number): Date => new Date(Date.now() - s * 1_000);
  await utimes(join(cacheFolder, drafts.elsewhereOld), ago(3_600), ago(3_600));
  const stale = ago(process.uptime() + 60);
  await utimes(join(cacheFolder, drafts.ownNumberBefore), stale, stale);
  await opened(await smallWeights(), () => {});
  const left = (await made()).filter((each) => each.endsWith(".part"));
  assert.deepEqual(left, [drafts.elsewhere, drafts.own, drafts.other].sort());
});

test("openQuantised leaves nothing after an abort", async () => {
  const weights = await openWeights(large, "model.safetensors");
  const controller = new AbortController();
  const asked: typeof weights = {
    ...weights,
    async readInto(room, name, from) {
      if (name === LARGE.matrices[1]!.name) controller.abort(new Error("enough"));
      await weights.readInto(room, name, from);
    },
  };
  await assert.rejects(openQuantised(asked, LARGE, cacheFolder, controller.signal), /^Error: enough$/);
  await weights.close();
  assert.deepEqual(await made(), []);
});

const REMEDIES = /make room, choose another folder with --data-dir, or take the precision fp32/;

describe("A disk without room", () => {
  test("is reported with the size of the weights, and keeps nothing", async () => {
    const full = quantising("go on", ["/bin/sh", "-c", 'ulimit -f 20000; exec "$0" "$@"']);
    assert.equal(await full.line(), "midway");
    const said = await full.line();
    assert.match(
      said,
      /^refused CacheError: The disk .*cache \d+ is full: the quantised weights take 27\.6 MB/,
    );
    assert.match(said, REMEDIES);
    await within("its end", full.ended);
    assert.deepEqual(await made(), []);
  });

  const canMount = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
  const skip = canMount ? false : "only root may make a small disk";
  /** A shell with such a disk at the cache's folder, which lists it in the end. */
  const onDisk = (mount: string): string[] => [
    "unshare",
    "--mount",
    "sh",
    "-c",
    `${mount} && "$0" "$@"; ls "$3"`,
  ];
  const ofSize = (size: string): string[] => onDisk(`mount -t tmpfs -o size=${size} tmpfs "$3"`);

  test("is reported before anything is written", { skip }, async () => {
    await mkdir(cacheFolder);
    const full = quantising("go on", ofSize("20m"));
    const said = await full.line();
    assert.match(
      said,
      /^refused CacheError: The quantised weights take 27\.6 MB, and the disk that holds .* has 21\.0 MB free: /,
    );
    assert.match(said, REMEDIES);
    await within("its end", full.ended);
  });

  test("is reported midway, and keeps nothing", { skip }, async () => {
    await mkdir(cacheFolder);
    const full = quantising("fill", ofSize("40m"));
    assert.equal(await full.line(), "midway");
    assert.match(await full.line(), /^refused CacheError: The disk that holds .* is full: .*27\.6 MB/);
    assert.equal(await full.line(), "filler");
    await within("its end", full.ended);
  });

  test("may be read-only if the weights are on it", {
    skip: process.getuid?.() === 0 && skip,
  }, async () => {
    await mkdir(cacheFolder);
    const isRoot = process.getuid?.() === 0;
    const locked = async (): Promise<ReturnType<typeof quantising>> => {
      if (!isRoot) await chmod(cacheFolder, 0o555);
      return quantising(
        "go on",
        isRoot ? onDisk('mount --bind "$3" "$3" && mount -o remount,ro,bind "$3"') : [],
      );
    };
    const refused = await locked();
    assert.match(
      await refused.line(),
      /^refused CacheError: The quantised weights, 27\.6 MB, are kept in .*cache \d+, which cannot be written to \((EROFS|EACCES)\): .*--data-dir/,
    );
    await within("its end", refused.ended);
    await chmod(cacheFolder, 0o755);
    await opened(large, () => {}, LARGE);
    const welcome = await locked();
    assert.equal(await welcome.line(), "opened 4 tensors");
    await within("its end", welcome.ended);
    await chmod(cacheFolder, 0o755);
  });
});

test("openQuantised names a folder that cannot be made", async () => {
  await writeFile(cacheFolder, "");
  const folder = cacheFolder;
  cacheFolder = join(folder, "below");
  await assert.rejects(
    opened(await smallWeights(), () => {}),
    /CacheError: The quantised weights, 0\.0 MB, are kept in .*below, which cannot be written to \(ENOTDIR\)/,
  );
});
