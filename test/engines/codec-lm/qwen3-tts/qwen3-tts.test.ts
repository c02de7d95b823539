import assert from "node:assert/strict";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  type CodecLanguageModel,
  EMPTY_UTTERANCE,
  type Precision,
  type Utterance,
} from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { Fields } from "../../../../src/engines/codec-lm/fields.ts";
import { OpenResources } from "../../../../src/engines/codec-lm/load-model.ts";
import { Backbone, backboneGraph } from "../../../../src/engines/codec-lm/networks/backbone.ts";
import { DepthDecoder, depthDecoderGraph } from "../../../../src/engines/codec-lm/networks/depth-decoder.ts";
import {
  addRow,
  buildPrompt,
  Qwen3Embeddings,
  textProjectionGraph,
} from "../../../../src/engines/codec-lm/qwen3-tts/prompt.ts";
import {
  codePredictorParts,
  qwen3Tts,
  talkerParts,
} from "../../../../src/engines/codec-lm/qwen3-tts/qwen3-tts.ts";
import { firstCodeLogits, qwen3TtsSettings } from "../../../../src/engines/codec-lm/qwen3-tts/sampling.ts";
import { selectReference } from "../../../../src/engines/codec-lm/qwen3-tts/voice.ts";
import { identifyArchitecture, readCheckpoint } from "../../../../src/engines/codec-lm/read-checkpoint.ts";
import { CodeHistory, probabilities } from "../../../../src/engines/codec-lm/sampler.ts";
import { validateCheckpoint } from "../../../../src/engines/codec-lm/validate-checkpoint.ts";
import { readVocabularyFiles } from "../../../../src/onnx/tokenizer.ts";
import { type Arrays, assertNear, openCheckpoint, QWEN3_TTS, readArrays, readJson } from "../goldens.ts";
import { spoken } from "../spoken.ts";
import { depthLogits, readUnevenly } from "../transformers.ts";
import { BASE, type Case, caseArrays, customFolder, readCases, utteranceOf } from "./cases.ts";

const CONFIG = "config.json";
const configOf = async (folder: string) => (await readCheckpoint(folder)).qwen3Tts!;

const cases = await readCases();
const caseOf = (name: string): Case => cases.find((each) => each.name === name)!;

const folders: string[] = [];
const custom = await customFolder();
folders.push(custom);
const cacheFolder = await mkdtemp(join(tmpdir(), "antiphon-"));
folders.push(cacheFolder);
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

const folderOf = (model: Case["model"]): string => (model === "tiny-base" ? BASE : custom);
const setupOf = (precision: Precision = "fp32") => ({
  threads: 1,
  precision,
  cacheFolder,
  signal: new AbortController().signal,
});

describe("A tiny Qwen3-TTS in float32", () => {
  const models = new Map<Case["model"], CodecLanguageModel>();

  before(async () => {
    for (const name of ["tiny-base", "tiny-custom"] as const)
      models.set(name, await openCheckpoint(folderOf(name), setupOf()));
  });

  after(async () => {
    for (const model of models.values()) await model.close();
  });

  test("has 15 cases", () => {
    assert.equal(cases.length, 15);
  });

  for (const each of cases) {
    test(`generates the reference's codes and sound for "${each.name}"`, async () => {
      const arrays = await caseArrays(each.name);
      const found = await spoken(models.get(each.model)!, await utteranceOf(each, arrays));
      assert.deepEqual(found.codes, each.codes);
      assert.equal(found.stop, each.stop === "eos" ? "finished" : "length");
      assert.equal(found.samples.length, 1_920 * each.codes.length);
      const wanted = arrays.floats("waveform").slice(-found.samples.length);
      assertNear(found.samples, wanted, 2e-5, "the waveform");
    });
  }

  const asked = async (name: string, more: Readonly<Record<string, string | null>>, rest: object = {}) => {
    const utterance = await utteranceOf(caseOf(name), await caseArrays(name));
    const options = new Map(utterance.options);
    for (const [option, value] of Object.entries(more)) {
      if (value === null) options.delete(option);
      else options.set(option, value);
    }
    return { ...utterance, options, ...rest };
  };
  const by = async (...of: Parameters<typeof asked>) =>
    (await spoken(models.get(caseOf(of[0]).model)!, await asked(...of))).codes;

  test("has the defaults of its kind, and a label's voice", async () => {
    const preset = { non_streaming_mode: null, x_vector_only_mode: null, instruct: null, speaker: null };
    const ryan = { open: { speaker: "Ryan", text: caseOf("preset-speaker").text } };
    assert.deepEqual(await by("preset-speaker", preset, ryan), caseOf("preset-speaker").codes);
    assert.deepEqual(await by("plain", preset), caseOf("plain").codes);
    assert.deepEqual(await by("icl", preset), caseOf("icl").codes);
  });

  /** Removes the case's own parameters. */
  const none = Object.fromEntries(
    Object.keys(caseOf("plain").generation).map((name) => [name, null] as const),
  );

  test("samples by its seed", async () => {
    const sampling = { temperature: 9, topK: null, maxFrames: 3 };
    const [one, again, other] = [
      await by("plain", none, { sampling, seed: 1n }),
      await by("plain", none, { sampling, seed: 1n }),
      await by("plain", none, { sampling, seed: 2n }),
    ];
    assert.deepEqual(one, again);
    assert.notDeepEqual(one, other);
    assert.ok(one.flat().every((code) => code < 64));
  });

  test("prefers options to parameters to the checkpoint's defaults", async () => {
    const greedy = caseOf("plain").codes.slice(0, 3);
    const short = (more: object) => ({ sampling: { maxFrames: 3, ...more } });
    assert.deepEqual(await by("plain", none, short({ temperature: 0 })), greedy);
    assert.deepEqual(await by("plain", { ...none, do_sample: "False" }, short({ temperature: 1.5 })), greedy);
    assert.deepEqual(await by("plain", { ...none, do_sample: "false", max_new_tokens: "4" }), greedy);
    const likeliest = { ...none, top_k: "1", subtalker_top_k: "1" };
    assert.deepEqual(await by("plain", likeliest, short({ topK: 40 })), greedy);
    const acoustic = await by("plain", none, short({ temperature: 0, acousticTemperature: 9, topK: null }));
    assert.equal(acoustic[0]![0], greedy[0]![0]);
    assert.notDeepEqual(acoustic[0], greedy[0]);
  });

  test("rejects what its kind cannot do, with what it can", async () => {
    const refused = async (message: RegExp, ...of: Parameters<typeof asked>) => {
      await assert.rejects(by(...of), message);
    };
    await refused(/no option voice; it has speaker, language/, "plain", { voice: "x" });
    await refused(/--option top_k takes a number/, "plain", { top_k: "many" });
    await refused(/no speaker bob in this checkpoint; it has serena, vivian/, "plain", { speaker: "Bob" });
    await refused(/language Latin is not one of .*german.*, or auto/, "plain", { language: "Latin" });
    await refused(/x_vector_only_mode is for base/, "plain", { x_vector_only_mode: "true" });
    await refused(/takes neither speaker nor instruct/, "icl", { instruct: "Loudly." });
    await refused(/give speaker "0" an earlier turn with audio/, "icl", {}, { history: [] });
    await refused(/text is empty/, "plain", {}, { open: { speaker: "0", text: " \n" } });
    const long = { open: { speaker: "0", text: "a b c d e f g ".repeat(5_000) } };
    await refused(/takes \d+ of the model's 32768 positions/, "plain", {}, long);
  });

  test("stops between two frames", async () => {
    const stop = new AbortController();
    const speech = models.get("tiny-custom")!.speak(await asked("plain", {}), stop.signal);
    await speech.next();
    stop.abort();
    await assert.rejects(speech.next(), { name: "AbortError" });
  });

  test("ignores instructions where the checkpoint's size has none", async () => {
    const folder = await customFolder();
    folders.push(folder);
    const config = await readJson<object>(join(folder, CONFIG));
    await writeFile(join(folder, CONFIG), JSON.stringify({ ...config, tts_model_size: "0b6" }));
    const small = await openCheckpoint(folder, setupOf());
    const first = async (model: CodecLanguageModel, instruct: string | null) =>
      (await spoken(model, await asked("instruct", { instruct }, { sampling: { maxFrames: 1 } }))).codes;
    const { instruct } = caseOf("instruct");
    const plain = await first(small, null);
    assert.deepEqual(await first(small, instruct), plain);
    await small.close();
    assert.deepEqual(await first(models.get("tiny-custom")!, null), plain);
    assert.deepEqual(await first(models.get("tiny-custom")!, instruct), caseOf("instruct").codes.slice(0, 1));
    assert.notDeepEqual(plain, caseOf("instruct").codes.slice(0, 1));
  });

  for (const precision of ["int8", "int4"] as const) {
    test(`generates the same first codes in ${precision}, also from its cache`, async () => {
      for (const turn of ["made", "found"]) {
        const model = await openCheckpoint(custom, setupOf(precision));
        const { codes } = await spoken(
          model,
          await asked("preset-speaker", {}, { sampling: { maxFrames: 3 } }),
        );
        await model.close();
        assert.deepEqual(codes, caseOf("preset-speaker").codes.slice(0, 3), turn);
      }
    });
  }
});

describe("The networks of a tiny Qwen3-TTS", () => {
  const opened = new OpenResources(setupOf());
  after(() => opened.close());

  for (const each of cases) {
    test(`compute the reference's prompt, states and logits for "${each.name}"`, async () => {
      const arrays = await caseArrays(each.name);
      const folder = folderOf(each.model);
      const config = await configOf(folder);
      const weights = await opened.weights(folder, (await readCheckpoint(folder)).weights[0]!);
      const [large, small] = [talkerParts(config), codePredictorParts(config)];
      const backboneFile = backboneGraph(weights, large);
      const backbone = new Backbone(await opened.session(backboneFile, weights, large.name), large.sizes, 1);
      const depthFile = depthDecoderGraph(weights, small);
      const depthDecoder = new DepthDecoder(
        await opened.session(depthFile, weights, small.name),
        small.sizes,
        1,
      );
      const text = await opened.unquantisedSession(textProjectionGraph(weights, config), weights, "text");
      const embeddings = new Qwen3Embeddings(weights, text, config);
      const frames = arrays.has("ref_codes") ? arrays.rows("ref_codes") : null;
      const words = each.reference?.turns.map((turn) => turn.text).join(" ");
      const { rows, trailing } = buildPrompt(
        {
          text: each.text,
          language: each.language,
          speaker: each.speaker === null ? (words === undefined ? null : "voice") : { preset: each.speaker },
          instruction: each.instruct,
          reference: frames === null ? null : { text: words!, frames },
          isTextFirst: each.non_streaming,
        },
        await readVocabularyFiles(folder),
        config,
      );
      const written = rows.map(({ text: token, codec }) => {
        if (codec === "voice") return [token, "speaker"];
        return [
          token,
          typeof codec === "object" && codec !== null ? `ref ${frames!.indexOf(codec as number[])}` : codec,
        ];
      });
      assert.deepEqual(written, each.prompt);
      assert.deepEqual(trailing, each.trailing_text_ids);

      const voice = arrays.has("speaker_embedding") ? arrays.floats("speaker_embedding") : null;
      const prompt = await embeddings.ofRows(rows, voice);
      assertNear(prompt, arrays.floats("prompt_embeds"), 1e-5, "the prompt's embeddings");
      const { width } = config.talker;
      const { hidden, logits: first } = await readUnevenly(backbone, prompt, width);
      assertNear(hidden, arrays.floats("prompt_hidden"), 2e-4, "the prompt's states");

      const texts = await embeddings.ofText([...trailing, config.ids.textPad]);
      const states = [...hidden.slice(-width)];
      const firsts = [...first];
      for (const [at, frame] of each.codes.entries()) {
        const row = embeddings.ofFrame(frame);
        const from = Math.min(at, trailing.length) * width;
        addRow(row, texts.subarray(from, from + width));
        const given = await backbone.read(0, row);
        states.push(...given.hidden);
        firsts.push(...given.logits);
      }
      assertNear(Float32Array.from(states), arrays.floats("talker_hidden"), 2e-4, "the frames' states");
      const c0 = arrays.floats("c0_logits");
      assertNear(Float32Array.from(firsts.slice(0, c0.length)), c0, 2e-4, "logits of the first codebook");

      const wanted = arrays.floats("predictor_logits");
      const logits: number[] = [];
      for (let frame = 0; logits.length < wanted.length; frame++) {
        const state = Float32Array.from(states.slice(frame * width, (frame + 1) * width));
        const ofFrame = await depthLogits(depthDecoder, state, each.codes[frame]!, (codebook, code) =>
          embeddings.ofCode(codebook, code),
        );
        logits.push(...ofFrame);
      }
      assertNear(Float32Array.from(logits), wanted, 5e-4, "logits of the others");
    });
  }
});

describe("The probabilities of Qwen3-TTS's codes", () => {
  interface Choice {
    readonly logits: number;
    readonly generated: readonly number[];
    readonly repetition_penalty: number;
    readonly temperature: number;
    readonly top_k: number;
    readonly top_p: number;
  }

  const read = async () => ({
    table: await readJson<{
      codes: number;
      eos: number;
      vocab: number;
      talker: Choice[];
      predictor: Choice[];
    }>(join(QWEN3_TTS, "sampling/table.json")),
    arrays: await readArrays(join(QWEN3_TTS, "sampling/table.safetensors")),
  });
  const rowOf = (arrays: Arrays, name: string, at: number, width: number): Float32Array =>
    arrays.floats(name).slice(at * width, (at + 1) * width);
  const shares = (logits: Float32Array, choice: Choice): Float32Array =>
    Float32Array.from(
      probabilities(logits, {
        temperature: choice.temperature,
        topK: choice.top_k || null,
        topP: choice.top_p,
      }),
    );

  test("equal the reference's for the first code", async () => {
    const { table, arrays } = await read();
    const config = await configOf(BASE);
    assert.equal(table.talker.length, 10);
    for (const [at, choice] of table.talker.entries()) {
      const chosen = new CodeHistory();
      for (const code of choice.generated) chosen.add(code);
      const generation = new Fields({ repetition_penalty: choice.repetition_penalty }, "the table");
      const { penalty } = qwen3TtsSettings(generation, EMPTY_UTTERANCE);
      const row = rowOf(arrays, "talker_logits", choice.logits, table.vocab);
      const logits = firstCodeLogits(row, chosen, penalty, config);
      const found = shares(logits, choice);
      const kept = Float32Array.from([...found.slice(0, table.codes), found[table.eos]!]);
      assertNear(kept, arrays.floats(`talker_probs_${at}`), 1e-6, `row ${at}`);
      assert.ok(Math.abs(kept.reduce((sum, share) => sum + share, 0) - 1) < 1e-5);
    }
  });

  test("equal the reference's for the other codes", async () => {
    const { table, arrays } = await read();
    assert.equal(table.predictor.length, 4);
    for (const [at, choice] of table.predictor.entries()) {
      const found = shares(rowOf(arrays, "predictor_logits", choice.logits, table.codes), choice);
      assertNear(found, arrays.floats(`predictor_probs_${at}`), 1e-6, `row ${at}`);
    }
  });
});

test("selectReference takes the newest whole turns of up to 10 s, those with words first", () => {
  const clip = (seconds: number) => new Float32Array(24_000 * seconds);
  const turn = (speaker: string, text: string | null, seconds: number | null) => ({
    speaker,
    text,
    audio: seconds === null ? null : clip(seconds),
  });
  const of = (...history: Utterance["history"]) => {
    const utterance = { history, open: { speaker: "0", text: "x" }, sampling: {}, options: new Map() };
    const own = (isVoiceOnly: boolean) => {
      const found = selectReference({ ...utterance, uniforms: null, seed: 0n }, isVoiceOnly);
      return found === null ? null : [found.text, found.audio.length / 24_000];
    };
    return { words: own(false), voiceOnly: own(true) };
  };
  const both = of(turn("0", "a", 4), turn("1", "b", 3), turn("0", "c ", 5), turn("0", "d", null));
  assert.deepEqual(both, { words: ["a c", 9], voiceOnly: [null, 9] });
  assert.deepEqual(of(turn("0", "a", 6), turn("0", "b", 5)).words, ["b", 5]);
  assert.deepEqual(of(turn("0", "a", 30)).words, ["a", 30]);
  assert.deepEqual(of(turn("0", null, 2), turn("0", " ", 3)).words, [null, 5]);
  assert.deepEqual(of(turn("0", "a", 2), turn("0", null, 3)).words, ["a", 2]);
  assert.equal(of(turn("1", "a", 2), turn("0", "b", null), turn("0", "c", 0)).words, null);
});

describe("A Qwen3-TTS checkpoint", () => {
  /** A copy with changed fields, given by dotted paths. */
  const copied = async (file: string, changes: Readonly<Record<string, unknown>>): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
    folders.push(folder);
    await cp(BASE, folder, { recursive: true });
    const config = await readJson<Record<string, unknown>>(join(folder, file));
    for (const [path, value] of Object.entries(changes)) {
      const names = path.split(".");
      const last = names.pop()!;
      const group = names.reduce((group, name) => group[name] as Record<string, unknown>, config);
      group[last] = value;
    }
    await writeFile(join(folder, file), JSON.stringify(config));
    return folder;
  };

  test("is valid, and identified by its configuration", async () => {
    for (const [folder, facts] of [
      [
        BASE,
        /12 Hz, base \(0b6\); talker of 3 layers, 64 wide; .* 16 codebooks of 64 codes; .*358 of the codec/,
      ],
      [custom, /custom_voice \(1b7\).*code predictor of 2, 48 wide.*speakers: serena, vivian/],
    ] as const) {
      const found = await validateCheckpoint(folder);
      assert.deepEqual(found.problems, []);
      assert.match(found.facts.join("; "), facts);
      assert.equal(await (await identifyArchitecture(folder)).architecture, qwen3Tts);
    }
  });

  test("is rejected by each missing, wrong or unexpected tensor of both files", async () => {
    const folder = await copied("config.json", {
      "talker_config.num_hidden_layers": 4,
      "talker_config.text_vocab_size": 1_000,
      "talker_config.code_predictor_config.hidden_size": 48,
      "speaker_encoder_config.enc_res2net_scale": 4,
    });
    const { problems } = await validateCheckpoint(folder);
    for (const wanted of [
      "The weights lack talker.model.layers.3.self_attn.q_norm.weight.",
      "The weights lack talker.code_predictor.small_to_mtp_projection.bias.",
      "talker.model.text_embedding.weight is [1048,80]; by the configuration it is [1000,80].",
      "speaker_encoder.blocks.1.res2net_block.blocks.3.conv.weight is not one of the model's tensors.",
    ]) {
      assert.ok(problems.includes(wanted), wanted);
    }
    await assert.rejects(openCheckpoint(folder, setupOf()), /And \d+ more/);
    const codec = await copied("speech_tokenizer/config.json", {
      "decoder_config.num_hidden_layers": 1,
      "encoder_config.num_hidden_layers": 3,
    });
    const found = await validateCheckpoint(codec);
    assert.ok(
      found.problems.includes(
        "speech_tokenizer/model.safetensors: The weights lack encoder.encoder_transformer.layers.2.mlp.fc1.weight.",
      ),
    );
    const unexpected = "decoder.pre_transformer.layers.1.self_attn_layer_scale.scale";
    assert.ok(
      found.problems.includes(
        `speech_tokenizer/model.safetensors: ${unexpected} is not one of the model's tensors.`,
      ),
    );
    await assert.rejects(openCheckpoint(codec, setupOf()), /And \d+ more/);
  });

  test("is rejected by its wrong field, with the constraint", async () => {
    const codec = "speech_tokenizer/config.json";
    const wrong: readonly [message: RegExp, file: string, path: string, value: unknown][] = [
      [
        /tts_model_type has to be base, custom_voice or voice_design; it is "x"/,
        CONFIG,
        "tts_model_type",
        "x",
      ],
      [
        /codec_eos_token_id has to be a whole number .*missing/,
        CONFIG,
        "talker_config.codec_eos_token_id",
        undefined,
      ],
      [/english is row 5000 of the talker's 1088/, CONFIG, "talker_config.codec_language_id.english", 5_000],
      [/lacks klingon, the dialect of bob/, CONFIG, "talker_config.spk_is_dialect", { bob: "klingon" }],
      [/a voice is 32 numbers wide \(enc_dim\), the talker 64/, CONFIG, "speaker_encoder_config.enc_dim", 32],
      [/16 codebooks of 65 codes, its code predictor of 64/, CONFIG, "talker_config.vocab_size", 1_089],
      [/4 heads cannot share 3/, CONFIG, "talker_config.num_key_value_heads", 3],
      [
        /has <\|im_start\|> as 1001; by config.json \(im_start_token_id\) that is 7/,
        CONFIG,
        "im_start_token_id",
        7,
      ],
      [/temperature has to be a number above 0/, "generation_config.json", "temperature", -1],
      [/decoder's frames have 960 samples/, codec, "decoder_config.upsampling_ratios", [2, 1]],
      [/16 of 32 codebooks of 64 codes, the decoder 8 of 64/, codec, "decoder_config.num_quantizers", 8],
      [/decoder_dim has to be a multiple of 16; it is 40/, codec, "decoder_config.decoder_dim", 40],
      [/codebook_dim has to be a whole number of at most/, codec, "decoder_config.codebook_dim", 1e12],
      [/model_type has to be "qwen3_tts_tokenizer_12hz"/, codec, "model_type", "mimi"],
    ];
    for (const [message, file, path, value] of wrong) {
      const { problems } = await validateCheckpoint(await copied(file, { [path]: value }));
      assert.match(problems.join("\n"), message);
    }
  });
});
