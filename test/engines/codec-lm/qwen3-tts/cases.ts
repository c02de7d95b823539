import { cp, mkdtemp, readdir, readFile, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Utterance } from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { type Arrays, QWEN3_TTS, readArrays, readJson } from "../goldens.ts";

export const BASE = join(QWEN3_TTS, "tiny-base");

/** A generation of the reference. */
export interface Case {
  readonly name: string;
  readonly model: "tiny-base" | "tiny-custom";
  readonly text: string;
  readonly language: string;
  readonly speaker: string | null;
  readonly instruct: string | null;
  readonly non_streaming: boolean;
  readonly x_vector_only: boolean | null;
  readonly reference: { readonly turns: readonly { readonly text: string; readonly audio: string }[] } | null;
  readonly prompt: readonly (readonly [text: number | null, codec: number | string | null])[];
  readonly trailing_text_ids: readonly number[];
  readonly generation: Readonly<Record<string, number | boolean>> & { readonly max_new_tokens: number };
  readonly codes: readonly (readonly number[])[];
  readonly stop: "eos" | "length";
}

const FOLDER = join(QWEN3_TTS, "cases");

export async function readCases(): Promise<Case[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".json") && name !== "index.json");
  return await Promise.all(names.sort().map((name) => readJson<Case>(join(FOLDER, name))));
}

export const caseArrays = (name: string): Promise<Arrays> => readArrays(join(FOLDER, `${name}.safetensors`));

/** The case as an utterance: the reference's clips are earlier turns of the speaker. */
export async function utteranceOf(each: Case, arrays: Arrays): Promise<Utterance> {
  const { max_new_tokens: choices, ...generation } = each.generation;
  const options = {
    language: each.language,
    speaker: each.speaker ?? "",
    instruct: each.instruct ?? "",
    non_streaming_mode: each.non_streaming,
    x_vector_only_mode: each.x_vector_only ?? false,
    ...generation,
  };
  const turns = each.reference?.turns ?? [];
  return {
    history: await Promise.all(
      turns.map(async ({ text, audio }) => ({ speaker: "0", text, audio: await clip(audio) })),
    ),
    open: { speaker: "0", text: each.text },
    sampling: { maxFrames: choices - 1 },
    options: new Map(Object.entries(options).map(([name, value]) => [name, String(value)])),
    uniforms: arrays.has("uniforms") ? [...arrays.floats("uniforms")] : null,
    seed: 0n,
  };
}

/** The samples of a WAV with a minimal head. */
async function clip(name: string): Promise<Float32Array> {
  const bytes = await readFile(join(FOLDER, name));
  return Float32Array.from(
    new Int16Array(new Uint8Array(bytes.subarray(44)).buffer),
    (each) => each / 32_768,
  );
}

/** The custom model, linked to the base model's codec weights. The caller removes the folder. */
export async function customFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
  await cp(join(QWEN3_TTS, "tiny-custom"), folder, { recursive: true });
  const weights = "speech_tokenizer/model.safetensors";
  await symlink(join(BASE, weights), join(folder, weights));
  return folder;
}
