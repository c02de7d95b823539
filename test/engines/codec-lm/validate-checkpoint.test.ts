import assert from "node:assert/strict";
import { cp, open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { EMPTY_UTTERANCE, type Utterance } from "../../../src/engines/codec-lm/codec-language-model.ts";
import { readCheckpoint } from "../../../src/engines/codec-lm/read-checkpoint.ts";
import { validateCheckpoint } from "../../../src/engines/codec-lm/validate-checkpoint.ts";
import { openFiles } from "../../../src/onnx/byte-source.ts";
import { readSafetensors } from "../../../src/onnx/safetensors.ts";
import { type FloatType, firstNonFinite } from "../../../src/onnx/variable.ts";
import { writeSafetensors } from "../../../src/onnx/write-safetensors.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { CSM, FP32, openCheckpoint } from "./goldens.ts";
import { BASE } from "./qwen3-tts/cases.ts";
import { spoken } from "./spoken.ts";

const TINY = join(CSM, "csm-tiny");
const SHARDED = join(CSM, "csm-tiny-bf16");
/** What the tests change in the files of a checkpoint. */
interface Editable {
  [field: string]: unknown;
  weight_map: Record<string, string>;
  added_tokens: { id: number; content: string; special: boolean }[];
  added_tokens_decoder: Record<number, { content: string }>;
}

type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** A copy of a checkpoint that may be spoilt. */
async function copyOf(checkpoint: string): Promise<string> {
  const folder = join(temporaryFolder(), "checkpoint");
  await cp(checkpoint, folder, { recursive: true });
  // What the shards of half the width were published without.
  if (checkpoint === SHARDED) await cp(join(TINY, "tokenizer.json"), join(folder, "tokenizer.json"));
  return folder;
}

async function problemsOf(folder: string, numbers: "sample" | "all" = "sample"): Promise<readonly string[]> {
  return (await validateCheckpoint(folder, { numbers })).problems;
}

/** Writes bytes over a number of a tensor. */
async function spoil(path: string, name: string, number: number, bytes: readonly number[]): Promise<void> {
  const source = await openFiles([path]);
  const { from } = (await readSafetensors(source)).get(name)!;
  await source.close();
  const file = await open(path, "r+");
  await file.write(Buffer.from(bytes), 0, bytes.length, from + number * bytes.length);
  await file.close();
}

async function edit(path: string, change: (value: Editable) => unknown): Promise<void> {
  const value = JSON.parse(await readFile(path, "utf8"));
  change(value);
  await writeFile(path, JSON.stringify(value));
}

/** Rewrites the header of a safetensors file, whatever becomes of what it says. */
async function editHeader(path: string, change: (header: Header, text: string) => string): Promise<void> {
  const file = await readFile(path);
  const length = Number(file.readBigUInt64LE());
  const text = file.subarray(8, 8 + length).toString();
  const made = Buffer.from(change(JSON.parse(text), text));
  const lead = Buffer.alloc(8);
  lead.writeBigUInt64LE(BigInt(made.length));
  await writeFile(path, Buffer.concat([lead, made, file.subarray(8 + length)]));
}

/** Gives a checkpoint the weights that its configuration asks for: dice, and ones for what scales. */
async function writeRandomWeights(folder: string): Promise<void> {
  let state = 1;
  // Of Park and Miller: there are millions to draw.
  const draw = (): number => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
  for (const { folder: inner, file, manifest } of (await readCheckpoint(folder)).weights) {
    const makings = [...manifest.shapes].map(([name, shape]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      const numbers = Float32Array.from({ length: count }, () =>
        shape.length === 1 ? 1 : 0.2 * (draw() - 0.5),
      );
      return {
        tensors: [{ name, dtype: "F32" as const, shape }],
        make: () => [new Uint8Array(numbers.buffer)],
      };
    });
    await rm(join(folder, inner, file));
    await writeSafetensors(join(folder, inner, file), makings);
  }
}

/** Two frames that follow a sound: all parts of a model compute. */
const SPOKEN: Utterance = {
  ...EMPTY_UTTERANCE,
  history: [
    { speaker: "0", text: "Yes.", audio: Float32Array.from({ length: 12_000 }, (_, at) => Math.sin(at / 9)) },
  ],
  open: { speaker: "0", text: "No." },
  sampling: { temperature: 1, maxFrames: 2 },
};

const NAN = [0, 0, 0xc0, 0x7f];
const INFINITY = [0, 0, 0x80, 0xff];

describe("validateCheckpoint", () => {
  for (const checkpoint of [TINY, SHARDED, BASE]) {
    test(`accepts ${checkpoint.split("/").at(-1)}, and reports its memory`, async () => {
      const { facts, problems } = await validateCheckpoint(await copyOf(checkpoint));
      assert.deepEqual(problems, []);
      const memory = /int4: about 0\.\d GB; int8: about 0\.\d GB; fp32: about 0\.\d GB; for each more/;
      assert.match(facts.join("\n"), memory);
    });
  }

  for (const [what, name, number, bytes] of [
    ["NaN in a norm", "backbone_model.norm.weight", 63, NAN],
    ["infinity in a matrix", "lm_head.weight", 1_000, INFINITY],
    ["NaN in the codec", "codec_model.upsample.conv.weight", 0, NAN],
  ] as const) {
    test(`reports ${what}, by name and place`, async () => {
      const folder = await copyOf(TINY);
      await spoil(join(folder, "model.safetensors"), name, number, bytes);
      assert.deepEqual(await problemsOf(folder), [
        `${name} is damaged: its number ${number} is NaN or infinite.`,
      ]);
    });
  }

  test("reports NaN in a bfloat16 shard and in the codec's file", async () => {
    const sharded = await copyOf(SHARDED);
    const { weight_map: map } = JSON.parse(
      await readFile(join(sharded, "transformers.safetensors.index.json"), "utf8"),
    );
    const name = "backbone_model.layers.0.mlp.up_proj.weight";
    await spoil(join(sharded, map[name]), name, 77, [0xc0, 0x7f]);
    assert.deepEqual(await problemsOf(sharded), [`${name} is damaged: its number 77 is NaN or infinite.`]);
    const qwen = await copyOf(BASE);
    const inner = "decoder.pre_transformer.norm.weight";
    await spoil(join(qwen, "speech_tokenizer/model.safetensors"), inner, 2, NAN);
    assert.deepEqual(await problemsOf(qwen), [
      `speech_tokenizer/model.safetensors: ${inner} is damaged: its number 2 is NaN or infinite.`,
    ]);
    for (const file of ["model.safetensors", "speech_tokenizer/model.safetensors"]) {
      const cut = await copyOf(BASE);
      await writeFile(join(cut, file), (await readFile(join(cut, file))).subarray(0, -1));
      const [problem, ...others] = await problemsOf(cut);
      assert.ok(problem?.startsWith(`${file}: `) && problem.includes("truncated"), problem);
      assert.deepEqual(others, []);
      await assert.rejects(openCheckpoint(cut, FP32), { name: "WeightsError", message: problem });
    }
  });

  test("samples large tensors, and reads every number on request", async () => {
    const folder = await copyOf(TINY);
    const rows = 20_000;
    await edit(join(folder, "config.json"), (config) => {
      config.text_vocab_size = rows;
    });
    const path = join(folder, "model.safetensors");
    const source = await openFiles([path]);
    const name = "embed_text_tokens.weight";
    const makings = await Promise.all(
      [...(await readSafetensors(source))].map(async ([each, { shape, from, bytes }]) => {
        const isIt = each === name;
        const data = isIt ? new Uint8Array(rows * 64 * 4) : await source.read(from, bytes);
        const tensors = [{ name: each, dtype: "F32" as const, shape: isIt ? [rows, 64] : shape }];
        return { tensors, make: () => [data] };
      }),
    );
    await source.close();
    await rm(path);
    await writeSafetensors(path, makings);
    assert.deepEqual(await problemsOf(folder), []);
    // Between two spans of the sample, then in the last one.
    await spoil(path, name, 20_000, NAN);
    assert.deepEqual(await problemsOf(folder), []);
    assert.deepEqual(await problemsOf(folder, "all"), [
      `${name} is damaged: its number 20000 is NaN or infinite.`,
    ]);
    await spoil(path, name, rows * 64 - 1, NAN);
    assert.deepEqual(await problemsOf(folder), [
      `${name} is damaged: its number 1279999 is NaN or infinite.`,
    ]);
  });

  test("reports a missing tokenizer as well as a wrong configuration", async () => {
    for (const [checkpoint, file] of [
      [TINY, "tokenizer.json"],
      [BASE, "vocab.json"],
    ] as const) {
      const folder = await copyOf(checkpoint);
      await rm(join(folder, file));
      await edit(join(folder, "config.json"), (config) => {
        for (const field of ["codec_config", "talker_config"]) if (field in config) config[field] = 1;
      });
      const problems = await problemsOf(folder);
      assert.equal(problems.length, 2, problems.join("\n"));
      assert.match(problems[1]!, new RegExp(file.replace(".", "\\.")));
    }
  });

  test("reports another model's tokenizer", async () => {
    const csm = await copyOf(TINY);
    await edit(join(csm, "tokenizer.json"), (tokenizer) => {
      for (const token of tokenizer.added_tokens)
        if (token.content === "<|AUDIO|>") token.content = "<|python_tag|>";
    });
    assert.deepEqual(await problemsOf(csm), [
      "The tokenizer is of another model: it has no <|AUDIO|>; by config.json (audio_token_id) that is 1002.",
    ]);
    const shifted = await copyOf(TINY);
    await edit(join(shifted, "config.json"), (config) => {
      config.bos_token_id = 1_001;
    });
    assert.deepEqual(await problemsOf(shifted), [
      "The tokenizer is of another model: it has <|begin_of_text|> as 1000; by config.json (bos_token_id) that is 1001.",
    ]);
    const larger = await copyOf(TINY);
    await edit(join(larger, "tokenizer.json"), (tokenizer) => {
      tokenizer.added_tokens.push({ id: 128_256, content: "<|more|>", special: true });
    });
    assert.deepEqual(await problemsOf(larger), [
      "The tokenizer is of another model: its tokens go up to 128256; the text's embedding has 1024 rows.",
    ]);
    const qwen = await copyOf(BASE);
    await edit(join(qwen, "tokenizer_config.json"), ({ added_tokens_decoder: added }) => {
      added[1_001]!.content = "<|started|>";
      added[1_030]!.content = "<|eod|>";
    });
    assert.deepEqual(await problemsOf(qwen), [
      "The tokenizer is of another model: it has no <|im_start|>; by config.json (im_start_token_id) that is 1001.",
      "The tokenizer is of another model: it has no <tts_text_eod>; by config.json (tts_eos_token_id) that is 1030.",
    ]);
  });

  const head = (change: (entry: Header[string], header: Header) => void) => (header: Header) => {
    change(header["lm_head.weight"]!, header);
    return JSON.stringify(header);
  };
  const headers: readonly [what: string, change: Parameters<typeof editHeader>[1], message: RegExp][] = [
    ["is no JSON", (_, text) => text.slice(1), /model\.safetensors: The weights are no safetensors file/],
    [
      "has a tensor that overlaps",
      head((entry) => {
        const [from, to] = entry.data_offsets;
        entry.data_offsets = [from - 4, to - 4];
      }),
      /overlaps with another|bytes of no tensor/,
    ],
    ["leaves a hole", head((_, all) => delete all["lm_head.weight"]), /There are bytes of no tensor/],
    [
      "has a negative offset",
      head((entry) => (entry.data_offsets = [-8, 0])),
      /says nothing of use about lm_head\.weight/,
    ],
    ["has an unknown type", head((entry) => (entry.dtype = "F12")), /lm_head\.weight is of the type F12/],
    [
      "has a type without numbers",
      head((entry) => (entry.dtype = "I32")),
      /^lm_head\.weight is neither float32, float16 nor bfloat16\.$/,
    ],
    [
      "has a name twice",
      (header, text) =>
        `${text.trimEnd().slice(0, -1)},"lm_head.weight":${JSON.stringify(header["lm_head.weight"])}}`,
      /has lm_head\.weight twice/,
    ],
    [
      "has another shape",
      head((entry) => entry.shape.reverse()),
      /^lm_head\.weight is \[64,67\]; by the configuration it is \[67,64\]\.$/,
    ],
  ];
  for (const [what, change, message] of headers) {
    test(`reports a header that ${what}`, async () => {
      const folder = await copyOf(TINY);
      await editHeader(join(folder, "model.safetensors"), change);
      const problems = await problemsOf(folder);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, message);
    });
  }

  for (const [length, message] of [
    [2 ** 40, /no safetensors file/],
    [50_000_000, /cut short/],
  ] as const) {
    test(`reports a missing header of ${length} bytes`, async () => {
      const folder = await copyOf(TINY);
      const file = await open(join(folder, "model.safetensors"), "r+");
      const lead = Buffer.alloc(8);
      lead.writeBigUInt64LE(BigInt(length));
      await file.write(lead, 0, 8, 0);
      await file.close();
      const problems = await problemsOf(folder);
      assert.equal(problems.length, 1, problems.join("\n"));
      assert.match(problems[0]!, message);
    });
  }

  test("reports a missing, truncated or misnamed shard", async () => {
    const index = "transformers.safetensors.index.json";
    const second = "transformers-00002-of-00002.safetensors";
    const without = await copyOf(SHARDED);
    await rm(join(without, second));
    assert.match(
      (await problemsOf(without)).join(),
      /transformers-00002-of-00002\.safetensors is missing in/,
    );
    const cut = await copyOf(SHARDED);
    const bytes = await readFile(join(cut, second));
    await writeFile(join(cut, second), bytes.subarray(0, -1));
    assert.match((await problemsOf(cut)).join(), /transformers-00002-of-00002\.safetensors: .*truncated/);
    const swapped = await copyOf(SHARDED);
    let name = "";
    await edit(join(swapped, index), ({ weight_map: map }) => {
      name = Object.keys(map).find((each) => map[each] === second)!;
      map[name] = "transformers-00001-of-00002.safetensors";
    });
    assert.deepEqual(await problemsOf(swapped), [
      `transformers-00001-of-00002.safetensors lacks ${name}, which ${index} says is in it; it is in ${second}.`,
    ]);
  });

  for (const [checkpoint, file, group, accepted, refused] of [
    [TINY, "config.json", "", [16, 48], [8, 24, 20, 15]],
    [TINY, "config.json", "depth_decoder_config", [16, 48], [8, 24, 20, 15]],
    [TINY, "config.json", "codec_config", [2, 6, 20], [5]],
    [BASE, "config.json", "talker_config", [16, 48], [8, 24, 20, 15]],
    [BASE, "config.json", "talker_config.code_predictor_config", [16, 48], [8, 24, 20, 15]],
    [BASE, "speech_tokenizer/config.json", "decoder_config", [2, 6, 20], [5]],
    [BASE, "speech_tokenizer/config.json", "encoder_config", [2, 6, 20], [5]],
  ] as const) {
    const of = [...group.split(".").reverse(), file].filter((name) => name !== "").join(" of ");
    test(`rejects head widths that the runtime lacks, in ${of}`, async () => {
      const widened = async (width: number): Promise<string> => {
        const folder = await copyOf(checkpoint);
        await edit(join(folder, file), (config) => {
          const names = group.split(".").filter((name) => name !== "");
          const fields = names.reduce((from, name) => from[name] as Editable, config);
          fields.head_dim = width;
        });
        return folder;
      };
      for (const width of refused) {
        const folder = await widened(width);
        const [problem = "", ...others] = await problemsOf(folder);
        assert.match(problem, /^In .*config\.json, head_dim has to be a multiple of \d+, .*; it is \d+\.$/);
        assert.ok(problem.endsWith(`; it is ${width}.`), problem);
        assert.deepEqual(others, []);
        await assert.rejects(openCheckpoint(folder, FP32), { name: "CheckpointError", message: problem });
      }
      for (const width of accepted) {
        const folder = await widened(width);
        await writeRandomWeights(folder);
        assert.deepEqual(await problemsOf(folder), []);
        const model = await openCheckpoint(folder, FP32);
        const { codes, samples } = await spoken(model, SPOKEN);
        assert.equal(codes.length, 2);
        assert.ok(samples.every(Number.isFinite));
        await model.close();
      }
    });
  }

  test("reports a wrong field once", async () => {
    const folder = await copyOf(TINY);
    await edit(join(folder, "config.json"), (config) => {
      config.num_hidden_layers = "three";
    });
    const message =
      'In config.json, num_hidden_layers has to be a whole number of at least 1; it is "three".';
    assert.deepEqual(await problemsOf(folder), [message]);
  });
});

test("firstNonFinite finds NaN and infinity of every type, and nothing else", () => {
  const cases: readonly [type: FloatType, bytes: Uint8Array, at: number][] = [
    ["float32", new Uint8Array(Float32Array.of(0, -0, 3.4e38, -3.4e38, 1e-45).buffer), -1],
    ["float32", new Uint8Array(Float32Array.of(1, Number.NaN).buffer), 1],
    ["float32", new Uint8Array(Float32Array.of(Number.NEGATIVE_INFINITY).buffer), 0],
    ["float16", new Uint8Array(Uint16Array.of(0x7bff, 0xfbff, 0x0001, 0).buffer), -1],
    ["float16", new Uint8Array(Uint16Array.of(0x7bff, 0xfc00).buffer), 1],
    ["bfloat16", new Uint8Array(Uint16Array.of(0x7f7f, 0xff7f, 0x3f80).buffer), -1],
    ["bfloat16", new Uint8Array(Uint16Array.of(0, 0, 0xffc0).buffer), 2],
    ["bfloat16", new Uint8Array(0), -1],
  ];
  for (const [type, bytes, at] of cases) assert.equal(firstNonFinite(type, bytes), at, type);
});
