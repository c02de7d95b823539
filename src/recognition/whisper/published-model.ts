import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openFiles, WeightsError } from "../../onnx/byte-source.ts";
import { ct2Weights, hubWeights, type WhisperWeights } from "./whisper-weights.ts";

export interface PublishedWhisper {
  readonly weights: WhisperWeights;
  /** Tokens by id, in GPT-2's printable alphabet; special ones as `<|en|>`. */
  readonly vocabulary: readonly string[];
  /** Token ids that are never generated, and those never generated first. */
  readonly suppressed: readonly number[];
  readonly suppressedFirst: readonly number[];
  /** Decoder heads whose cross-attention follows the speech; `null` if not published. */
  readonly alignmentHeads: readonly (readonly [layer: number, head: number])[] | null;
}

/**
 * Opens a folder in CTranslate2's layout (`model.bin`, or `model.bin.part1`, `.part2` …, `vocabulary.txt`,
 * `config.json`) or Hugging Face's (`model.safetensors`, `vocab.json` with `added_tokens.json` or `tokenizer.json`,
 * `generation_config.json`, `config.json`).
 *
 * @throws WeightsError
 */
export async function openPublishedModel(folder: string): Promise<PublishedWhisper> {
  const names = new Set(await readdir(folder).catch(() => []));
  const isHub = names.has("model.safetensors");
  const parts = [...names].filter((name) => /^model\.bin(\.part\d+)?$/.test(name)).sort(byPart);
  const files = isHub ? ["model.safetensors"] : parts[0] === "model.bin" ? ["model.bin"] : parts;
  if (files.length === 0) {
    throw new WeightsError("The folder holds neither model.safetensors nor CTranslate2's model.bin.");
  }
  const source = await openFiles(files.map((name) => join(folder, name)));
  try {
    const [weights, vocabulary, config] = await Promise.all([
      isHub ? hubWeights(source) : ct2Weights(source),
      isHub ? hubVocabulary(folder, names) : ct2Vocabulary(folder),
      configOf(folder, names),
    ]);
    checkSizes(weights, vocabulary.length);
    return { weights, vocabulary, ...config };
  } catch (error) {
    await source.close();
    throw error;
  }
}

const byPart = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

function checkSizes({ sizes }: WhisperWeights, tokens: number): void {
  const isPlausible = Object.values(sizes).every((size) => Number.isSafeInteger(size) && size > 0);
  if (!isPlausible || sizes.textPositions < 8) throw new WeightsError("The weights are of no Whisper model.");
  if (tokens < sizes.vocabulary) {
    throw new WeightsError(`The vocabulary has ${tokens} tokens; the weights are for ${sizes.vocabulary}.`);
  }
}

async function ct2Vocabulary(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "vocabulary.txt"), "utf8").catch((cause: unknown) => {
    throw new WeightsError("vocabulary.txt is missing in the directory of model.bin.", { cause });
  });
  return text.replace(/\n$/, "").split("\n");
}

async function hubVocabulary(folder: string, names: ReadonlySet<string>): Promise<readonly string[]> {
  const ids = new Map<string, number>();
  const addAll = (record: unknown): void => {
    for (const [token, id] of Object.entries(record ?? {})) if (Number.isInteger(id)) ids.set(token, id);
  };
  if (names.has("tokenizer.json")) {
    const tokenizer = await json(folder, "tokenizer.json");
    addAll((tokenizer.model as Record<string, unknown> | undefined)?.vocab);
    for (const { content, id } of listOf<{ content: string; id: number }>(tokenizer.added_tokens)) {
      ids.set(content, id);
    }
  } else {
    addAll(await json(folder, "vocab.json"));
    if (names.has("added_tokens.json")) addAll(await json(folder, "added_tokens.json"));
  }
  const maxId = Math.max(-1, ...ids.values());
  if (maxId >= 1_000_000) throw new WeightsError("The vocabulary has a token with an impossible id.");
  const vocabulary = new Array<string>(maxId + 1).fill("");
  for (const [token, id] of ids) vocabulary[id] = token;
  return withTimestamps(vocabulary);
}

/** Adds the 1501 timestamps, which some vocabularies omit. */
function withTimestamps(vocabulary: readonly string[]): readonly string[] {
  const first = vocabulary.indexOf("<|notimestamps|>") + 1;
  if (first === 0) return vocabulary;
  const stamps = Array.from({ length: 1_501 }, (_, at) => `<|${(at / 50).toFixed(2)}|>`);
  return [...vocabulary.slice(0, first), ...stamps];
}

async function configOf(
  folder: string,
  names: ReadonlySet<string>,
): Promise<Omit<PublishedWhisper, "weights" | "vocabulary">> {
  const config = names.has("config.json") ? await json(folder, "config.json") : {};
  const generation = names.has("generation_config.json") ? await json(folder, "generation_config.json") : {};
  const all = { ...config, ...generation };
  const heads = listOf<readonly [number, number]>(all.alignment_heads);
  return {
    suppressed: listOf<number>(all.suppress_tokens ?? all.suppress_ids),
    suppressedFirst: listOf<number>(all.begin_suppress_tokens ?? all.suppress_ids_begin),
    alignmentHeads: heads.length === 0 ? null : heads,
  };
}

async function json(folder: string, name: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(join(folder, name), "utf8")) as Record<string, unknown>;
  } catch (cause) {
    throw new WeightsError(`${name} is missing in the directory of the weights, or is not valid JSON.`, {
      cause,
    });
  }
}

function listOf<T>(value: unknown): readonly T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
