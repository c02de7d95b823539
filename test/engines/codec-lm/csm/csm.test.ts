import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { CodecLanguageModel, Utterance } from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { csmConfig } from "../../../../src/engines/codec-lm/csm/config.ts";
import { csm, csmBackbone, csmDepthDecoder } from "../../../../src/engines/codec-lm/csm/csm.ts";
import { audioPositions, CsmEmbeddings, textPositions } from "../../../../src/engines/codec-lm/csm/prompt.ts";
import { readFields } from "../../../../src/engines/codec-lm/fields.ts";
import { Backbone, backboneGraph } from "../../../../src/engines/codec-lm/networks/backbone.ts";
import { DepthDecoder, depthDecoderGraph } from "../../../../src/engines/codec-lm/networks/depth-decoder.ts";
import { identifyArchitecture, readCheckpoint } from "../../../../src/engines/codec-lm/read-checkpoint.ts";
import { validateCheckpoint } from "../../../../src/engines/codec-lm/validate-checkpoint.ts";
import type { GraphFile } from "../../../../src/onnx/graph-file.ts";
import { openBoundSession } from "../../../../src/onnx/session.ts";
import { readTokenizer } from "../../../../src/onnx/tokenizer.ts";
import { openWeights } from "../../../../src/onnx/weights-folder.ts";
import { type Arrays, assertNear, CSM, FP32, openCheckpoint, readArrays, readCase } from "../goldens.ts";
import { spoken } from "../spoken.ts";
import { depthLogits, readUnevenly } from "../transformers.ts";

const TINY = join(CSM, "csm-tiny");
const configOf = async (folder: string) => csmConfig(await readFields(folder, "config.json"));

interface Case {
  readonly name: string;
  readonly model: string;
  readonly turns: readonly {
    readonly speaker: string;
    readonly text: string;
    readonly audio: { readonly array: string; readonly codes: string } | null;
  }[];
  readonly input_ids: readonly number[];
  readonly max_new_frames: number;
  readonly stop: "eos" | "length";
  readonly frames_decoded: number;
  readonly codes: readonly (readonly number[])[];
  readonly depth_logits_frames: readonly number[];
}

const names = (await readdir(join(CSM, "csm-cases")))
  .filter((file) => file.endsWith(".json") && file !== "index.json")
  .map((file) => file.slice(0, -".json".length));
const cases = await Promise.all(names.map((name) => readCase<Case>("csm-cases", `${name}.json`)));
const arraysOf = (name: string) => readArrays(join(CSM, "csm-cases", `${name}.safetensors`));

/** The case's conversation at temperature 0. */
function utteranceOf({ turns, max_new_frames: maxFrames }: Case, arrays: Arrays): Utterance {
  const spoken = turns.map(({ speaker, text, audio }) => ({
    speaker,
    text,
    audio: audio === null ? null : arrays.floats(audio.array),
  }));
  const { speaker, text } = spoken.at(-1)!;
  return {
    history: spoken.slice(0, -1),
    open: { speaker, text },
    sampling: { temperature: 0, maxFrames },
    options: new Map(),
    uniforms: null,
    seed: 0n,
  };
}

/** A folder of links, like a hub's cache. */
async function linked(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
  for (const [name, target] of Object.entries(files)) await symlink(target, join(folder, name));
  return folder;
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  return Object.fromEntries((await readdir(folder)).map((name) => [name, join(folder, name)]));
}

describe("A tiny CSM in float32", () => {
  const models = new Map<string, CodecLanguageModel>();
  let halfWidth: string;

  before(async () => {
    const shards = await filesIn(join(CSM, "csm-tiny-bf16"));
    halfWidth = await linked({ ...shards, "tokenizer.json": join(TINY, "tokenizer.json") });
    models.set("csm-tiny", await openCheckpoint(TINY, FP32));
    models.set("csm-tiny-bf16", await openCheckpoint(halfWidth, FP32));
  });

  after(async () => {
    for (const model of models.values()) await model.close();
    await rm(halfWidth, { recursive: true });
  });

  for (const each of cases) {
    test(`generates the reference's codes and sound for "${each.name}"`, async () => {
      const arrays = await arraysOf(each.name);
      const { codes, samples, stop } = await spoken(models.get(each.model)!, utteranceOf(each, arrays));
      assert.deepEqual(codes, each.codes);
      assert.equal(stop, each.stop === "eos" ? "finished" : "length");
      assert.equal(samples.length, 1_920 * each.frames_decoded);
      if (arrays.has("waveform")) assertNear(samples, arrays.floats("waveform"), 1e-4, "the waveform");
    });
  }

  const textOnly = async () => {
    const found = cases.find(({ name }) => name === "text-only")!;
    return utteranceOf(found, await arraysOf(found.name));
  };

  test("samples by its seed or by given draws, and rejects too few of them", async () => {
    const model = models.get("csm-tiny")!;
    const sampling = { temperature: 1.5, topK: null, maxFrames: 3 };
    const by = async (more: Partial<Utterance>) =>
      (await spoken(model, { ...(await textOnly()), sampling, ...more })).codes;
    const [one, again, other] = [await by({ seed: 1n }), await by({ seed: 1n }), await by({ seed: 2n })];
    assert.deepEqual(one, again);
    assert.notDeepEqual(one, other);
    assert.ok(one.flat().every((code) => code < 64));
    const uniforms = Array.from({ length: 96 }, (_, at) => (at * 0.618) % 1);
    assert.deepEqual(await by({ uniforms }), await by({ uniforms, seed: 9n }));
    await assert.rejects(by({ uniforms: uniforms.slice(1) }), /Only 95 draws were given/);
  });

  test("prefers options to parameters to the checkpoint's defaults", async () => {
    const model = models.get("csm-tiny")!;
    const by = async (options: Readonly<Record<string, string>>, sampling: Utterance["sampling"]) => {
      const asked = { ...(await textOnly()), sampling, options: new Map(Object.entries(options)) };
      return (await spoken(model, asked)).codes;
    };
    const greedy = await by({}, { temperature: 0, maxFrames: 3 });
    const off = { do_sample: "False", depth_decoder_do_sample: "false", max_new_tokens: "3" };
    assert.deepEqual(await by(off, { temperature: 1.5, maxFrames: 9 }), greedy);
    const likeliest = { top_k: "1", depth_decoder_top_k: "1" };
    assert.deepEqual(await by(likeliest, { temperature: 1.5, topK: 40, maxFrames: 3 }), greedy);
    const acoustic = await by({}, { temperature: 0, acousticTemperature: 1.5, topK: null, maxFrames: 1 });
    assert.equal(acoustic[0]![0], greedy[0]![0]);
    assert.notDeepEqual(acoustic[0], greedy[0]);
    await assert.rejects(by({ language: "english" }, {}), /no option language; it has temperature, top_k/);
    await assert.rejects(by({ top_k: "many" }, {}), /--option top_k takes a number/);
    await assert.rejects(
      by({ temperature: "-1" }, {}),
      /In --option, temperature has to be a number above 0/,
    );
  });

  test("stops between two frames, and rejects too long a conversation", async () => {
    const model = models.get("csm-tiny")!;
    const stop = new AbortController();
    const speech = model.speak(await textOnly(), stop.signal);
    await speech.next();
    stop.abort();
    await assert.rejects(speech.next(), { name: "AbortError" });
    const open = { speaker: "0", text: "a b c d e f g ".repeat(300) };
    const long = spoken(model, { ...(await textOnly()), open });
    await assert.rejects(long, /takes \d+ of the model's 2048 positions/);
  });
});

describe("A tiny CSM in fewer bits", () => {
  let cacheFolder: string;
  before(async () => {
    cacheFolder = join(await mkdtemp(join(tmpdir(), "antiphon-")), "quantised");
  });
  after(() => rm(dirname(cacheFolder), { recursive: true }));

  const opened = (precision: "int8" | "int4", folder = TINY, signal = FP32.signal) =>
    openCheckpoint(folder, { threads: 1, precision, cacheFolder, signal });

  test("generates the same codes in 8 bits from texts", async () => {
    const model = await opened("int8");
    const texts = cases.filter(
      ({ turns, model: name }) => name === "csm-tiny" && turns.every((turn) => !turn.audio),
    );
    assert.equal(texts.length, 6);
    for (const each of texts) {
      const { codes } = await spoken(model, utteranceOf(each, await arraysOf(each.name)));
      assert.deepEqual(codes, each.codes, each.name);
    }
    await model.close();
  });

  test("is quantised once, and again for a damaged cache or another checkpoint", async () => {
    const each = cases.find(({ name }) => name === "unicode")!;
    const codes = async (folder?: string) => {
      const model = await opened("int4", folder);
      const { codes: chosen } = await spoken(model, utteranceOf(each, await arraysOf(each.name)));
      await model.close();
      return chosen;
    };
    const files = async () => (await readdir(cacheFolder)).filter((file) => file.endsWith(".safetensors"));
    const earlier = await files().catch((): string[] => []);
    const first = await codes();
    const [made, ...others] = (await files()).filter((file) => !earlier.includes(file));
    assert.deepEqual(others, []);
    const path = join(cacheFolder, made!);
    const { mtimeMs } = await stat(path);
    assert.deepEqual(await codes(), first);
    assert.equal((await stat(path)).mtimeMs, mtimeMs);

    const bytes = await readFile(path);
    await writeFile(
      path,
      bytes.map((byte, at) => (at > 50_000 ? byte ^ 255 : byte)),
    );
    assert.deepEqual(await codes(), first);
    assert.deepEqual(await readFile(path), bytes);

    const copy = await mkdtemp(join(tmpdir(), "antiphon-"));
    await cp(TINY, copy, { recursive: true });
    assert.deepEqual(await codes(copy), first);
    assert.equal((await files()).length, earlier.length + 2);
    await utimes(join(copy, "model.safetensors"), 1, 1);
    await assert.rejects(opened("int4", copy, AbortSignal.abort()), { name: "AbortError" });
    await rm(copy, { recursive: true });
    assert.ok((await readdir(cacheFolder)).every((file) => /\.safetensors(\.sha256)?$/.test(file)));
  });
});

describe("The networks of a tiny CSM", () => {
  const releases: (() => Promise<void>)[] = [];
  after(async () => {
    for (const release of releases.reverse()) await release();
  });

  for (const name of ["text-only", "two-audio", "audio-without-text", "long-prompt"]) {
    test(`compute the reference's prompt, states and logits for "${name}"`, async () => {
      const each = cases.find((one) => one.name === name)!;
      const arrays = await arraysOf(name);
      const config = await configOf(TINY);
      const weights = await openWeights(TINY, config.weightsFile);
      releases.push(() => weights.close());
      const opened = async (graph: GraphFile) => {
        const setup = { dataFolder: weights.folder, keepsWeightsInPlace: true };
        const session = await openBoundSession(graph, name, setup);
        releases.push(() => session.release());
        return session;
      };
      const [large, small] = [csmBackbone(config), csmDepthDecoder(config)];
      const backbone = new Backbone(await opened(backboneGraph(weights, large)), large.sizes, 1);
      const depthFile = depthDecoderGraph(weights, small);
      const depthDecoder = new DepthDecoder(await opened(depthFile), small.sizes, 1);
      const embeddings = new CsmEmbeddings(weights, config);

      const tokenizer = await readTokenizer(join(TINY, "tokenizer.json"));
      const positions = each.turns.flatMap(({ speaker, text, audio }) => [
        ...textPositions(speaker, text, tokenizer, config),
        ...(audio === null ? [] : audioPositions(arrays.rows(audio.codes), config)),
      ]);
      const ids = positions.map((position, at) => {
        if ("token" in position) return position.token;
        const isLast = !("frame" in (positions[at + 1] ?? {}));
        return isLast ? 1_003 : 1_002;
      });
      assert.deepEqual(ids, each.input_ids);
      const rows = embeddings.ofPositions(positions);
      assertNear(rows, arrays.floats("prompt_embeds"), 1e-5, "the prompt's embeddings");

      const { width } = config.backbone;
      const { hidden, logits: first } = await readUnevenly(backbone, rows, width);
      assertNear(hidden, arrays.floats("prompt_hidden"), 2e-4, "the prompt's states");

      const states = [...hidden.slice(-width)];
      const firsts = [...first];
      for (const frame of each.codes.slice(0, -1)) {
        const given = await backbone.read(0, embeddings.ofFrame(frame));
        states.push(...given.hidden);
        firsts.push(...given.logits);
      }
      assertNear(Float32Array.from(states), arrays.floats("backbone_hidden"), 2e-4, "the frames' states");
      assertNear(Float32Array.from(firsts), arrays.floats("c0_logits"), 2e-4, "logits of the first codebook");

      const logits: number[] = [];
      for (const frame of each.depth_logits_frames) {
        const state = Float32Array.from(states.slice(frame * width, (frame + 1) * width));
        const ofFrame = await depthLogits(depthDecoder, state, each.codes[frame]!, (codebook, code) =>
          embeddings.ofCode(codebook, code),
        );
        logits.push(...ofFrame);
      }
      assertNear(Float32Array.from(logits), arrays.floats("depth_logits"), 1e-3, "logits of the others");
    });
  }
});

describe("A CSM checkpoint", () => {
  const folders: string[] = [];
  after(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  const copied = async (change: (config: Record<string, unknown>) => void): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
    folders.push(folder);
    await cp(TINY, folder, { recursive: true });
    const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8"));
    change(config);
    await writeFile(join(folder, "config.json"), JSON.stringify(config));
    return folder;
  };

  test("may have older key names", async () => {
    const older = await linked({ "config.json": join(TINY, "config.transformers4.json") });
    folders.push(older);
    assert.deepEqual(await configOf(older), await configOf(TINY));
    const { backbone } = await configOf(TINY);
    assert.equal(backbone.rotary.scaling?.originalPositions, 64);
    const oldest = await copied((config) => {
      const {
        rope_type: type,
        rope_theta: theta,
        ...rest
      } = config.rope_parameters as Record<string, unknown>;
      Object.assign(config, { rope_parameters: null, rope_theta: theta, rope_scaling: { ...rest, type } });
    });
    assert.deepEqual((await configOf(oldest)).backbone, backbone);
  });

  test("is valid", async () => {
    const { problems, facts } = await validateCheckpoint(TINY);
    assert.deepEqual(problems, []);
    assert.match(facts.join("; "), /CSM; backbone of 3 layers.*32 codebooks of 64 codes.*258 tensors/);
  });

  test("is rejected by each missing, wrong or unexpected tensor", async () => {
    const folder = await copied((config) => {
      config.num_hidden_layers = 4;
      config.text_vocab_size = 1_000;
      (config.codec_config as { num_hidden_layers: number }).num_hidden_layers = 1;
    });
    const { problems } = await validateCheckpoint(folder);
    assert.ok(problems.includes("The weights lack backbone_model.layers.3.mlp.up_proj.weight."));
    assert.ok(
      problems.includes("embed_text_tokens.weight is [1024,64]; by the configuration it is [1000,64]."),
    );
    const unexpected = "codec_model.decoder_transformer.layers.1.mlp.fc1.weight";
    assert.ok(problems.includes(`${unexpected} is not one of the model's tensors.`));
    // The tokenizer has more tokens than the embedding has rows.
    assert.equal(problems.length, 9 + 1 + 2 * 12 + 1);
    await assert.rejects(openCheckpoint(folder, FP32), /And 33 more/);
  });

  test("needs both embeddings unless they are shared", async () => {
    const folder = await copied((config) => {
      config.tie_codebooks_embeddings = false;
    });
    assert.deepEqual((await validateCheckpoint(folder)).problems, [
      "The weights lack backbone_model.embed_tokens.embed_audio_tokens.weight.",
    ]);
  });

  test("is rejected by its wrong field, with the constraint", async () => {
    const wrong: readonly [message: RegExp, changes: Readonly<Record<string, unknown>>][] = [
      [
        /json, num_codebooks has to be a whole number of at least 2; it is missing/,
        { num_codebooks: undefined },
      ],
      [/In config\.json, hidden_act has to be "silu".*; it is "gelu"/, { hidden_act: "gelu" }],
      [/no JSON object in depth_decoder_config of config\.json/, { depth_decoder_config: 3 }],
      [/In codec_config .*, sampling_rate has to be 24000/, { "codec_config.sampling_rate": 16_000 }],
      [/frames have 960 samples/, { "codec_config.upsampling_ratios": [8, 6, 5, 2] }],
      [
        /In rope_parameters .*, rope_type has to be "llama3".*"yarn"/,
        { "rope_parameters.rope_type": "yarn" },
      ],
      [
        /num_hidden_layers has to be a whole number of at most 1000; it is 1000000000/,
        { num_hidden_layers: 1e9 },
      ],
      [
        /In codec_config .*, num_hidden_layers has to be .* at most 1000/,
        { "codec_config.num_hidden_layers": 1e8 },
      ],
      [
        /In depth_decoder_config .*, max_position_embeddings has to be a whole number of at least 32; it is 2/,
        { "depth_decoder_config.max_position_embeddings": 2 },
      ],
      [
        /In codec_config .*, num_filters has to be a multiple of 7; it is \d+/,
        { "codec_config.compress": 7 },
      ],
      [/In codec_config .*, kernel_size has to be .* at most 1000/, { "codec_config.kernel_size": 1e9 }],
      [/4 heads share 3/, { num_key_value_heads: 3 }],
      [
        /32 codebooks of 60 codes, its codec 32 of 64/,
        { vocab_size: 60, "depth_decoder_config.vocab_size": 60 },
      ],
    ];
    const changed = (changes: Readonly<Record<string, unknown>>) =>
      copied((config) => {
        for (const [path, value] of Object.entries(changes)) {
          const [last, group] = path.split(".").reverse() as [string, string | undefined];
          Object.assign(group === undefined ? config : (config[group] as object), { [last]: value });
        }
      });
    for (const [pattern, changes] of wrong) {
      const { problems } = await validateCheckpoint(await changed(changes));
      assert.match(problems.join("\n"), pattern);
    }
  });

  test("is identified by its model_type", async () => {
    assert.equal(await (await identifyArchitecture(TINY)).architecture, csm);
    const other = await copied((config) => Object.assign(config, { model_type: "llama" }));
    await assert.rejects(
      readCheckpoint(other),
      /model_type in config\.json is "llama"; what can be run is csm/,
    );
    await assert.rejects(readCheckpoint(join(CSM, "rope")), /config\.json is missing/);
  });
});
