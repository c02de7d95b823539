import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { WriterError } from "../../../src/model/writer.ts";
import { HeadCutError, readGgufHead } from "../../../src/writers/gguf/gguf-head.ts";
import { mergeAdapter } from "../../../src/writers/gguf/merge-adapter.ts";
import { TOP } from "../../architecture/top.ts";
import { type Metadata, uint32 } from "../gguf-file.ts";
import { type Part, part, tinyAdapter, tinyBase, tinyFile } from "./tiny-files.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-merge-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

function placed(bytes: Uint8Array): string {
  const path = join(folder, `${files++}.gguf`);
  writeFileSync(path, bytes);
  return path;
}

function merged(base: Uint8Array, adapter: Uint8Array): Buffer {
  const outPath = placed(Buffer.alloc(0));
  const sha256 = mergeAdapter({ basePath: placed(base), adapterPath: placed(adapter), outPath });
  const bytes = readFileSync(outPath);
  assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256);
  return bytes;
}

const golden = (name: string) => readFileSync(join(TOP, "test/golden/gguf", name));
const [goldenBase, goldenAdapter] = [golden("base.gguf"), golden("adapter.gguf")];

describe("a model and its adapter in one file", () => {
  test("are byte for byte what the reference makes of them", () => {
    assert.deepEqual(merged(goldenBase, goldenAdapter), golden("merged.gguf"));
  });

  test("keep the metadata but for the kind of file, the names, the shapes and the order", () => {
    const metadata: Metadata = {
      "general.architecture": "llama",
      "tokenizer.ggml.tokens": ["a", "bc", ""],
      "tokenizer.ggml.scores": { int32s: [1, 2, 3] },
      "general.file_type": uint32(3),
      "llama.eps": { float32: 1e-5 },
      "llama.flag": { bool: true },
    };
    const base = tinyBase({ metadata });
    const head = readGgufHead(merged(base, tinyAdapter()));
    const { tensors, ...before } = readGgufHead(base);
    assert.deepEqual(
      [...head.metadata].filter(([key]) => key !== "general.file_type"),
      [...before.metadata].filter(([key]) => key !== "general.file_type"),
    );
    assert.equal(head.metadata.get("general.file_type")?.value, 7);
    const differing = [...head.metadataBytes.entries()].filter(
      ([at, byte]) => byte !== before.metadataBytes[at],
    );
    assert.equal(differing.length, 1);
    const outlines = (all: typeof tensors) => all.map(({ name, shape }) => ({ name, shape }));
    assert.deepEqual(outlines(head.tensors), outlines(tensors));
    assert.deepEqual(
      head.tensors.map(({ type }) => type),
      [0, 8, 8, 8, 1],
    );
  });

  test("need not say what kind of file they are, nor keep to the usual alignment", () => {
    const metadata: Metadata = { "general.architecture": "llama", "general.alignment": uint32(64) };
    const bytes = merged(tinyBase({ metadata, alignment: 64 }), tinyAdapter());
    const head = readGgufHead(bytes);
    assert.equal(head.dataStart % 64, 0);
    for (const { offset } of head.tensors) assert.equal(offset % 64, 0);
    assert.equal(bytes.length % 64, 0);
  });

  test("are written anew over what was there", () => {
    const outPath = placed(Buffer.alloc(100_000, 7));
    mergeAdapter({ basePath: placed(goldenBase), adapterPath: placed(goldenAdapter), outPath });
    assert.deepEqual(readFileSync(outPath), golden("merged.gguf"));
  });
});

/** Why two files cannot be merged: which of them, and what is wrong with it. Clients are shown no path. */
function refusal(base: Uint8Array, adapter: Uint8Array): { blamed: "base" | "adapter"; what: string } {
  const [basePath, adapterPath] = [placed(base), placed(adapter)];
  let thrown: unknown = null;
  try {
    mergeAdapter({ basePath, adapterPath, outPath: join(folder, "refused.gguf") });
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof WriterError, `${thrown}`);
  assert.ok(!thrown.message.includes(folder));
  const { message } = thrown.cause as Error;
  for (const [blamed, path] of [
    ["base", basePath],
    ["adapter", adapterPath],
  ] as const) {
    if (message.startsWith(`the file ${path} `))
      return { blamed, what: message.slice(`the file ${path} `.length) };
  }
  assert.fail(message);
}

describe("files that cannot be merged", () => {
  test("are named where they are cut, wherever that is", () => {
    for (const [whole, of] of [
      [goldenBase, (cut: Buffer) => refusal(cut, goldenAdapter)],
      [goldenAdapter, (cut: Buffer) => refusal(goldenBase, cut)],
    ] as const) {
      // The last tensor's padding may be missing.
      for (let length = 0; length < whole.length - 32; length += 13) {
        const { what } = of(whole.subarray(0, length));
        assert.equal(what, "is cut short", `${length} bytes`);
      }
    }
  });

  test("are named where they are something else", () => {
    const other = Buffer.from(goldenBase);
    other.write("GGML");
    assert.deepEqual(refusal(other, goldenAdapter), { blamed: "base", what: "is not a GGUF file" });
    const later = Buffer.from(goldenBase);
    later.writeUInt32LE(9, 4);
    assert.match(refusal(later, goldenAdapter).what, /^is of version 9 of GGUF/);
  });

  test("are named where their counts and lengths are impossible", () => {
    // The count of tensors, that of the metadata, and the length of the first key.
    for (const at of [8, 16, 24]) {
      const damaged = Buffer.from(goldenBase);
      damaged.writeBigUInt64LE(2n ** 50n, at);
      assert.match(refusal(damaged, goldenAdapter).what, /^is cut short$|^is damaged: it has/);
      damaged.writeBigUInt64LE(2n ** 60n, at);
      assert.equal(refusal(damaged, goldenAdapter).what, "is damaged: it has an impossible size in it");
    }
  });

  const matrix = (name: string, ...shape: number[]) => part(name, shape, "q4_1");
  const low = (name: string, shape: number[], value = 0.5) => part(name, shape, "f16", value);
  const fits: readonly Part[] = [low("m.weight.lora_a", [32, 2]), low("m.weight.lora_b", [2, 3])];
  const base = tinyFile({ "general.architecture": "llama" }, [matrix("m.weight", 32, 3)]);
  const adapterOf = (...parts: Part[]) => tinyFile({ "adapter.lora.alpha": { float32: 4 } }, parts);

  test("but are, where all of it fits", () => {
    assert.ok(merged(base, adapterOf(...fits)).length > 0);
  });

  const wrong: Record<string, { adapter: Buffer; what: RegExp }> = {
    "is none": { adapter: tinyFile({}, fits), what: /^is not a low-rank adapter$/ },
    "has a scale that is no number": {
      adapter: tinyFile({ "adapter.lora.alpha": { float32: Number.NaN } }, fits),
      what: /^is not a low-rank adapter$/,
    },
    "has something else in it": {
      adapter: adapterOf(...fits, low("m.bias", [3, 1])),
      what: /^has half of what m\.bias needs$/,
    },
    "lacks a half": { adapter: adapterOf(fits[0]!), what: /^has half of what m\.weight needs$/ },
    "is for a matrix that is not there": {
      adapter: adapterOf(low("n.weight.lora_a", [32, 2]), low("n.weight.lora_b", [2, 3])),
      what: /^is another model's: n\.weight is not as it should be$/,
    },
    "is for more columns": {
      adapter: adapterOf(low("m.weight.lora_a", [64, 2]), fits[1]!),
      what: /^is another model's/,
    },
    "is for more rows": {
      adapter: adapterOf(fits[0]!, low("m.weight.lora_b", [2, 4])),
      what: /^is another model's/,
    },
    "has halves of two ranks": {
      adapter: adapterOf(fits[0]!, low("m.weight.lora_b", [1, 3])),
      what: /^is another model's/,
    },
    "has no rank": {
      adapter: adapterOf(low("m.weight.lora_a", [32, 0]), low("m.weight.lora_b", [0, 3])),
      what: /^is another model's/,
    },
    "is in blocks": {
      adapter: adapterOf(part("m.weight.lora_a", [32, 2], "q8_0"), fits[1]!),
      what: /^is another model's/,
    },
  };
  for (const [how, { adapter, what }] of Object.entries(wrong)) {
    test(`are named where the adapter ${how}`, () => {
      const found = refusal(base, adapter);
      assert.equal(found.blamed, "adapter");
      assert.match(found.what, what);
    });
  }

  test("are named where the model's matrix is not of 4 bits", () => {
    const other = tinyFile({}, [part("m.weight", [32, 3], "q8_0")]);
    assert.match(refusal(other, adapterOf(...fits)).what, /^is another model's/);
  });

  test("are named where they are infinite together", () => {
    const infinite = adapterOf(low("m.weight.lora_a", [32, 2], Number.POSITIVE_INFINITY), fits[1]!);
    assert.deepEqual(refusal(base, infinite), {
      blamed: "base",
      what: "becomes infinite with its adapter in m.weight",
    });
  });

  test("are named where numbers are kept in a way that is not known here", () => {
    const unknown = tinyFile({}, [part("m.weight", [32, 3], "q4_0")]);
    assert.match(refusal(unknown, adapterOf(...fits)).what, /^has numbers of type 2 in m\.weight, which/);
    const odd = tinyFile({}, [{ ...matrix("m.weight", 32, 3), shape: [33, 3] }]);
    assert.match(refusal(odd, adapterOf(...fits)).what, /^has rows of 33 numbers in blocks in m\.weight$/);
  });
});

test("a head that goes on is told from one that is damaged", () => {
  assert.throws(() => readGgufHead(goldenBase.subarray(0, 300)), HeadCutError);
  const nested = Buffer.from(tinyFile({ list: { int32s: [1] } }, []));
  // The list's kind of members, after its key and its own kind.
  nested.writeUInt32LE(9, 24 + 8 + 4 + 4);
  assert.throws(() => readGgufHead(nested), /has metadata of type 9/);
  const unknown = Buffer.from(tinyFile({ list: { int32s: [1] } }, []));
  unknown.writeUInt32LE(13, 24 + 8 + 4);
  assert.throws(() => readGgufHead(unknown), /has metadata of type 13/);
  assert.throws(() => readGgufHead(tinyFile({ "general.alignment": uint32(20) }, [])), /the alignment 20/);
  const many = tinyFile({}, [part("m", [1, 1, 1, 1, 1], "f32")]);
  assert.throws(() => readGgufHead(many), /m has 5 dimensions/);
});
