import assert from "node:assert/strict";
import { cp, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { temporaryFolder } from "../e2e/folders.ts";
import { antiphon } from "../e2e/program.ts";
import { assertNear, CSM, QWEN3_TTS, readArrays, readCase } from "../engines/codec-lm/goldens.ts";
import { BASE, caseArrays, readCases } from "../engines/codec-lm/qwen3-tts/cases.ts";
import { runAntiphon } from "./run-antiphon.ts";

const TINY = join(CSM, "csm-tiny");

interface Case {
  readonly turns: readonly {
    readonly speaker: string;
    readonly text: string;
    readonly audio: object | null;
  }[];
  readonly codes: readonly (readonly number[])[];
  readonly frames_decoded: number;
  readonly max_new_frames: number;
}

/** Writes a request body; turns with audio get the WAV. */
async function bodyOf({ turns }: Case, params: object, wav?: string): Promise<string> {
  const file = join(temporaryFolder(), "body.json");
  const audio =
    wav === undefined ? undefined : (await readFile(join(CSM, "csm-cases", wav))).toString("base64");
  const conversation = turns.map(({ speaker, text, audio: heard }) => ({
    speaker,
    text,
    ...(heard === null ? {} : { audio_wav_b64: audio }),
  }));
  await writeFile(file, JSON.stringify({ conversation, params }));
  return file;
}

describe("antiphon checkpoint run", () => {
  const wavs: Readonly<Record<string, string>> = { "wav-context": "wav-context.audio_0.wav" };
  for (const name of ["wav-context", "eos", "eos-immediate"]) {
    test(`speaks "${name}" with the reference's codes and sound`, async () => {
      const each = await readCase<Case>("csm-cases", `${name}.json`);
      const body = await bodyOf(each, { temperature: 0 }, wavs[name]);
      const folder = temporaryFolder();
      const [codes, wav] = [join(folder, "codes.json"), join(folder, "speech.wav")];
      const line = ["checkpoint", "run", TINY, "--conversation", body, "--codes", codes, "-o", wav];
      const { code, stderr } = await runAntiphon([...line, "--max-frames", String(each.max_new_frames)]);
      assert.equal(code, 0, stderr);
      const stop = name.startsWith("eos") ? "finished" : "length";
      assert.deepEqual(JSON.parse(await readFile(codes, "utf8")), { frames: each.codes, stop });
      const bytes = await readFile(wav);
      assert.equal(bytes.length, 44 + 2 * 1_920 * each.frames_decoded);
      if (each.frames_decoded === 0) return;
      const arrays = await readArrays(join(CSM, "csm-cases", `${name}.safetensors`));
      const wanted = arrays.floats("waveform").map((sample) => Math.max(-1, Math.min(1, sample)));
      assertNear(decodeWav(bytes).samples, wanted, 2e-4, "the WAV");
    });
  }

  test("takes given uniforms and the architecture's own options", async () => {
    const body = await bodyOf(await readCase<Case>("csm-cases", "text-only.json"), {});
    const folder = temporaryFolder();
    const uniforms = join(folder, "uniforms.json");
    await writeFile(uniforms, JSON.stringify(Array.from({ length: 64 }, (_, at) => (at * 0.618) % 1)));
    const codes = async (...more: readonly string[]) => {
      const file = join(folder, "codes.json");
      const line = ["checkpoint", "run", TINY, "--conversation", body, "--codes", file, "--max-frames", "2"];
      const { code, stderr } = await runAntiphon([...line, ...more.flatMap((each) => ["--option", each])]);
      assert.equal(code, 0, stderr);
      return JSON.parse(await readFile(file, "utf8")).frames as number[][];
    };
    const options = [`uniforms=${uniforms}`, "temperature=1.5", "depth_decoder_temperature=1.5"];
    const drawn = await codes(...options);
    assert.equal(drawn.length, 2);
    assert.deepEqual(await codes(...options), drawn);
    const greedy = await codes("do_sample=false", "depth_decoder_do_sample=false");
    assert.deepEqual(greedy, (await readCase<Case>("csm-cases", "text-only.json")).codes.slice(0, 2));
    assert.notDeepEqual(drawn, greedy);
  });

  test("refuses wrong calls with one sentence", async () => {
    const open = { speaker: "0", text: "Hello.", audio: null };
    const each = { turns: [open], codes: [], frames_decoded: 0, max_new_frames: 1 };
    const body = await bodyOf(each, {});
    const run = (...more: readonly string[]) => runAntiphon(["checkpoint", "run", TINY, ...more]);
    const wrong: readonly [RegExp, readonly string[]][] = [
      [/--conversation/, []],
      [/none\.json \(--conversation\) cannot be read \(ENOENT\)/, ["--conversation", "none.json"]],
      [/--dtype takes fp32, int8 or int4; it is int2/, ["--conversation", body, "--dtype", "int2"]],
      [/--max-frames takes a whole number/, ["--conversation", body, "--max-frames", "0"]],
      [/--option takes NAME=VALUE/, ["--conversation", body, "--option", "=1"]],
      [/CSM has no option speed; it has temperature/, ["--conversation", body, "--option", "speed=2"]],
      [/no JSON array of numbers/, ["--conversation", body, "--option", `uniforms=${body}`]],
      [/end the name after -o in \.wav/, ["--conversation", body, "-o", "speech.mp3"]],
      [/text/, ["--conversation", await bodyOf({ ...each, turns: [{ ...open, text: " " }] }, {})]],
      [/temperature/, ["--conversation", await bodyOf(each, { temperature: "low" })]],
    ];
    for (const [pattern, more] of wrong) {
      const { code, stderr } = await run(...more);
      assert.equal(code, 2, stderr);
      assert.match(stderr, pattern);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
  });
});

describe("antiphon checkpoint run with a Qwen3-TTS", () => {
  for (const name of ["two-own-turns", "x-vector", "sampled-defaults"]) {
    test(`speaks "${name}" with the reference's codes`, async () => {
      const each = (await readCases()).find((one) => one.name === name)!;
      const arrays = await caseArrays(name);
      const folder = temporaryFolder();
      const [body, codes, uniforms] = ["body", "codes", "uniforms"].map((file) =>
        join(folder, `${file}.json`),
      );
      const turns = await Promise.all(
        each.reference!.turns.map(async ({ text, audio }) => {
          const wav = await readFile(join(QWEN3_TTS, "cases", audio));
          return { speaker: "0", text, audio_wav_b64: wav.toString("base64") };
        }),
      );
      const conversation = [...turns, { speaker: "1", text: "Well?" }, { speaker: "0", text: each.text }];
      await writeFile(body!, JSON.stringify({ conversation }));
      const isDrawn = arrays.has("uniforms");
      if (isDrawn) await writeFile(uniforms!, JSON.stringify([...arrays.floats("uniforms")]));
      const options = [
        `language=${each.language}`,
        `x_vector_only_mode=${each.x_vector_only ?? false}`,
        isDrawn ? `uniforms=${uniforms}` : "do_sample=false",
      ].flatMap((option) => ["--option", option]);
      const line = ["checkpoint", "run", BASE, "--conversation", body!, "--codes", codes!, ...options];
      const frames = String(each.generation.max_new_tokens - 1);
      const { code, stderr } = await runAntiphon([...line, "--max-frames", frames]);
      assert.equal(code, 0, stderr);
      const stop = each.stop === "eos" ? "finished" : "length";
      assert.deepEqual(JSON.parse(await readFile(codes!, "utf8")), { frames: each.codes, stop });
    });
  }

  test("reports a missing voice, and an unknown option", async () => {
    const body = await bodyOf(
      {
        turns: [{ speaker: "0", text: "Hello.", audio: null }],
        codes: [],
        frames_decoded: 0,
        max_new_frames: 1,
      },
      {},
    );
    const line = ["checkpoint", "run", BASE, "--conversation", body];
    const voiceless = await runAntiphon(line);
    assert.equal(voiceless.code, 1);
    assert.match(voiceless.stderr, /give speaker "0" an earlier turn with audio/);
    const wrong = await runAntiphon([...line, "--option", "language=Latin", "--option", "pitch=1"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Qwen3-TTS has no option pitch; it has speaker, language, instruct/);
  });

  test("checks the checkpoint with the codec's folder", async () => {
    const { code, stdout } = await runAntiphon(["checkpoint", "check", BASE]);
    assert.equal(code, 0);
    assert.match(stdout, /^Qwen3-TTS, 12 Hz, base \(0b6\)\n[\s\S]*languages: chinese, english[\s\S]*358 of/);
    assert.match(stdout, /Everything that it needs is there\.\n$/);
  });
});

describe("antiphon checkpoint check", () => {
  test("describes a complete checkpoint", async () => {
    const { code, stdout } = await antiphon(["checkpoint", "check", TINY]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^CSM\n[\s\S]*258 tensors\nmemory for[\s\S]*\nEverything that it needs is there\.\n$/,
    );
  });

  test("prints a line per problem, and checks every value with --full", async () => {
    const folder = join(temporaryFolder(), "checkpoint");
    await cp(TINY, folder, { recursive: true });
    const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8"));
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, audio_token_id: 7 }));
    const file = await open(join(folder, "model.safetensors"), "r+");
    const { size } = await file.stat();
    // The last number of the last tensor.
    await file.write(Buffer.from([0, 0, 0xc0, 0x7f]), 0, 4, size - 4);
    await file.close();
    for (const more of [[], ["--full"]]) {
      const { code, stdout, stderr } = await runAntiphon(["checkpoint", "check", folder, ...more]);
      assert.equal(code, 1);
      assert.match(stdout, /^The tokenizer is of another model: .*\(audio_token_id\) that is 7\.$/m);
      assert.match(stdout, /^\S+ is damaged: its number \d+ is NaN or infinite\.$/m);
      assert.match(stderr, /^2 things are wrong with .*\.\n$/);
      assert.equal(/--full reads all/.test(stdout), more.length === 0);
    }
  });

  test("names each missing tensor, and an unsupported model", async () => {
    const folder = join(temporaryFolder(), "checkpoint");
    await cp(TINY, folder, { recursive: true });
    const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8"));
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, num_hidden_layers: 4 }));
    const missing = await runAntiphon(["checkpoint", "check", folder]);
    assert.equal(missing.code, 1);
    assert.match(missing.stdout, /The weights lack backbone_model\.layers\.3\.mlp\.up_proj\.weight\./);
    assert.match(missing.stderr, /^9 things are wrong with .*\.\n$/);
    await writeFile(join(folder, "config.json"), JSON.stringify({ model_type: "llama" }));
    const unknown = await runAntiphon(["checkpoint", "check", folder]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /^The model_type in config\.json is "llama"; what can be run is csm/);
    const none = await runAntiphon(["checkpoint", "run", CSM, "--conversation", join(TINY, "config.json")]);
    assert.equal(none.code, 2);
  });
});
