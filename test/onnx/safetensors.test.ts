import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readSafetensors } from "../../src/onnx/safetensors.ts";
import { readFloats } from "../../src/onnx/variable.ts";
import { openWeights } from "../../src/onnx/weights-folder.ts";
import fc from "../properties.ts";
import { inMemory } from "./in-memory.ts";

const GOLDEN = fileURLToPath(new URL("../../../test/golden/csm", import.meta.url));

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

const BYTES: Readonly<Record<string, number>> = { F64: 8, F32: 4, F16: 2, BF16: 2, I32: 4, U8: 1 };

/** A file of this header, an object or text, and this many bytes. */
function fileOf(header: object | string, bytes: number): Uint8Array {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, Buffer.alloc(bytes)]);
}

/** Consecutive tensors. */
function laidOut(tensors: Readonly<Record<string, readonly [dtype: string, shape: readonly number[]]>>): {
  header: Record<string, Entry>;
  size: number;
} {
  let size = 0;
  const header: Record<string, Entry> = {};
  for (const [name, [dtype, shape]] of Object.entries(tensors)) {
    const from = size;
    size += shape.reduce((product, each) => product * each, BYTES[dtype]!);
    header[name] = { dtype, shape, data_offsets: [from, size] };
  }
  return { header, size };
}

const layouts = fc
  .dictionary(
    fc.stringMatching(/^[a-z.]{1,12}$/),
    fc.tuple(fc.constantFrom(...Object.keys(BYTES)), fc.array(fc.nat(5), { maxLength: 3 })),
    { minKeys: 1, maxKeys: 6 },
  )
  .map(laidOut);

const read = (file: Uint8Array) => readSafetensors(inMemory(file));

describe("readSafetensors", () => {
  test("locates every tensor, in any order of names", async () => {
    await fc.assert(
      fc.asyncProperty(layouts, fc.boolean(), async ({ header, size }, isReversed) => {
        const entries = Object.entries(header);
        const named = Object.fromEntries(isReversed ? entries.reverse() : entries);
        const file = fileOf({ __metadata__: { format: "pt" }, ...named }, size);
        const variables = await read(file);
        const base = file.length - size;
        assert.deepEqual([...variables.keys()].sort(), Object.keys(header).sort());
        for (const [name, { shape, data_offsets: offsets }] of Object.entries(header)) {
          const { from, bytes, shape: found } = variables.get(name)!;
          assert.deepEqual([from, from + bytes, found], [base + offsets[0], base + offsets[1], shape]);
        }
      }),
    );
  });

  test("rejects any wrong offset", async () => {
    await fc.assert(
      fc.asyncProperty(
        layouts,
        fc.nat(),
        fc.nat(1),
        fc.integer({ min: -16, max: 16 }).filter((shift) => shift !== 0),
        async ({ header, size }, which, side, shift) => {
          const names = Object.keys(header);
          const name = names[which % names.length]!;
          const offsets: [number, number] = [...header[name]!.data_offsets];
          offsets[side]! += shift;
          const lying = { ...header, [name]: { ...header[name], data_offsets: offsets } };
          await assert.rejects(read(fileOf(lying, size)), { name: "WeightsError" });
        },
      ),
    );
  });

  test("rejects a file that is too long or too short", async () => {
    await fc.assert(
      fc.asyncProperty(layouts, fc.nat(), async ({ header, size }, at) => {
        const file = fileOf(header, size);
        await assert.rejects(read(file.subarray(0, at % file.length)), { name: "WeightsError" });
        await assert.rejects(read(Buffer.concat([file, Buffer.alloc(1 + (at % 9))])), /at the end|truncated/);
      }),
    );
  });

  test("rejects any other bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await assert.rejects(read(bytes), { name: "WeightsError" });
      }),
    );
  });

  const twoFloats = (a: Entry, b: Entry) => fileOf({ a, b }, 16);
  const entry = (from: number, to: number, dtype = "F32", shape: readonly number[] = [2]): Entry => ({
    dtype,
    shape,
    data_offsets: [from, to],
  });

  test("names the wrong tensor", async () => {
    const wrong: readonly [RegExp, Uint8Array][] = [
      [/b overlaps with another/, twoFloats(entry(0, 8), entry(4, 12))],
      [/in front of b/, fileOf({ a: entry(0, 8), b: entry(12, 20) }, 20)],
      [/truncated: b extends/, twoFloats(entry(0, 8), entry(16, 24))],
      [/b is of the type F99/, twoFloats(entry(0, 8), entry(8, 16, "F99"))],
      [/b is of the type toString/, twoFloats(entry(0, 8), entry(8, 16, "toString"))],
      [/b has 8 bytes; \[3\] of F32 takes 12/, twoFloats(entry(0, 8), entry(8, 16, "F32", [3]))],
      [/nothing of use about b/, twoFloats(entry(0, 8), entry(8, 16, "F32", [-2]))],
      [/nothing of use about b/, fileOf({ a: entry(0, 8), b: null }, 8)],
      [
        /has a twice/,
        fileOf(`{"a":${JSON.stringify(entry(0, 8))},"\\u0061" :${JSON.stringify(entry(0, 8))}}`, 8),
      ],
      [/no safetensors/, fileOf(" {}", 0)],
      [/no safetensors/, fileOf("[]", 0)],
    ];
    for (const [pattern, file] of wrong) await assert.rejects(read(file), pattern);
  });

  test("takes names that look like structure", async () => {
    const names = ["}{", '":"', "[", "__proto__", "dtype"];
    const { header, size } = laidOut(
      Object.fromEntries(names.slice(0, 3).map((name) => [name, ["U8", [1]]])),
    );
    const more = `"__proto__":${JSON.stringify(entry(3, 11))},"dtype":${JSON.stringify(entry(11, 19))}}`;
    const variables = await read(fileOf(`${JSON.stringify(header).slice(0, -1)},${more}`, size + 16));
    assert.deepEqual([...variables.keys()].sort(), names.sort());
  });
});

test("readFloats converts 16-bit floats", async () => {
  const { header, size } = laidOut({ half: ["F16", [4]], brain: ["BF16", [4]] });
  const file = Buffer.from(fileOf(header, size));
  const base = file.length - size;
  [0x3c00, 0xc000, 0x0001, 0x7c00].forEach((bits, at) => {
    file.writeUInt16LE(bits, base + 2 * at);
  });
  [0x3f80, 0xc000, 0x7f80, 0x3eaa].forEach((bits, at) => {
    file.writeUInt16LE(bits, base + 8 + 2 * at);
  });
  const source = inMemory(file);
  const variables = await readSafetensors(source);
  const floats = async (name: string) => [...(await readFloats(source, name, variables.get(name)!))];
  assert.deepEqual(await floats("half"), [1, -2, 2 ** -24, Number.POSITIVE_INFINITY]);
  assert.deepEqual(await floats("brain"), [1, -2, Number.POSITIVE_INFINITY, 0.33203125]);
});

describe("openWeights", () => {
  const whole = () => openWeights(join(GOLDEN, "csm-tiny"), "model.safetensors");
  const shards = () => openWeights(join(GOLDEN, "csm-tiny-bf16"), "transformers.safetensors.index.json");

  test("reads one file and bfloat16 shards alike", async () => {
    const [one, two] = [await whole(), await shards()];
    assert.equal(one.variables.size, two.variables.size);
    assert.equal(new Set([...two.variables.values()].map(({ file }) => file)).size, 2);
    for (const name of ["lm_head.weight", "codec_model.upsample.conv.weight"]) {
      const [a, b] = [await one.read(name), await two.read(name)];
      assert.ok(
        a.every((value, at) => Math.abs(value - b[at]!) <= Math.abs(value) / 256),
        name,
      );
    }
    await Promise.all([one.close(), two.close()]);
  });

  test("reads a single row", async () => {
    for (const weights of [await whole(), await shards()]) {
      const all = await weights.read("lm_head.weight", [67, 64]);
      assert.deepEqual(weights.row("lm_head.weight", 66), all.slice(66 * 64));
      assert.throws(() => weights.row("lm_head.weight", 67), /has no row 67/);
      await assert.rejects(weights.read("lm_head.weight", [64, 67]), /is \[67,64\]; by .* \[64,67\]/);
      await assert.rejects(weights.read("lm_tail.weight"), /lack lm_tail\.weight/);
      await weights.close();
    }
  });

  test("rejects an index that disagrees with its files, and names the tensor", async () => {
    const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
    const { header, size } = laidOut({ a: ["F32", [2]] });
    const index = (map: Readonly<Record<string, string>>) =>
      writeFile(join(folder, "m.safetensors.index.json"), JSON.stringify({ weight_map: map }));
    const opened = () => openWeights(folder, "m.safetensors.index.json");
    try {
      await assert.rejects(opened(), /index\.json is missing/);
      await writeFile(join(folder, "1.safetensors"), fileOf(header, size));
      await writeFile(join(folder, "2.safetensors"), fileOf(header, size));
      const wrong: readonly [RegExp, Readonly<Record<string, string>>][] = [
        [/1\.safetensors lacks b/, { a: "1.safetensors", b: "1.safetensors" }],
        [/a is in more than one file/, { a: "1.safetensors", b: "2.safetensors" }],
        [/3\.safetensors is missing/, { a: "3.safetensors" }],
        [/names no safetensors file in its directory for a/, { a: "../1.safetensors" }],
        [/has no weight_map/, {}],
      ];
      for (const [pattern, map] of wrong) {
        await index(map);
        await assert.rejects(opened(), pattern);
      }
      await index({ a: "1.safetensors" });
      const weights = await opened();
      assert.deepEqual([...(await weights.read("a"))], [0, 0]);
      await weights.close();
      const bytes = await readFile(join(folder, "1.safetensors"));
      await writeFile(join(folder, "1.safetensors"), bytes.subarray(0, -1));
      await assert.rejects(opened(), /1\.safetensors: .*truncated/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
