import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type BytePairs, bytePairs, bytesOfToken, GPT2_SPLIT, type PairTable } from "./byte-pairs.ts";

export interface Tokenizer extends BytePairs {
  /** Returns the id of a token, special or not, as spelt in the file. */
  idOf(token: string): number | undefined;
  /** Largest id of all tokens; -1 without tokens. */
  readonly maxId: number;
}

interface Vocabulary {
  readonly ids: ReadonlyMap<string, number>;
  /** Merges, lowest rank first. */
  readonly merges: readonly (readonly [left: string, right: string])[];
  /** Added tokens as text, such as `<|end_of_text|>`. */
  readonly added: ReadonlyMap<string, number>;
  /** Added tokens that are recognised in text. */
  readonly nonSpecial: readonly string[];
  readonly pieces: RegExp;
  readonly ignoresMerges: boolean;
  /** Whether text is normalised to NFC first. */
  readonly usesNfc: boolean;
}

/** A tokenizer file that is unreadable or of an unsupported kind. */
export class TokenizerError extends Error {
  override readonly name = "TokenizerError";
}

/** Reads the `tokenizer.json` of a byte-level BPE tokenizer (Hugging Face `tokenizers`). @throws TokenizerError */
export async function readTokenizer(path: string): Promise<Tokenizer> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new TokenizerError(`${path} is missing or cannot be read.`, { cause });
  });
  try {
    return tokenizerOf(vocabularyOf(JSON.parse(text)));
  } catch (cause) {
    const reason = cause instanceof TokenizerError ? cause.message : "it is no JSON.";
    throw new TokenizerError(`${path} cannot be used: ${reason}`, { cause });
  }
}

export function tokenizerOf(vocabulary: Vocabulary): Tokenizer {
  const { ids, merges, added, nonSpecial, pieces, ignoresMerges, usesNfc } = vocabulary;
  const ranks = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const tokens = new Map([...ids].map(([token, id]) => [id, bytesOfToken(token)]));
  for (const [content, id] of added) tokens.set(id, [...new TextEncoder().encode(content)]);
  const table: PairTable = {
    idOf: (token) => ids.get(token),
    bytesOf: (id) => tokens.get(id) ?? [],
    rankOf: (left, right) => ranks.get(`${left} ${right}`),
    splitPattern: pieces,
    ignoresMerges,
  };
  const pairs = bytePairs(table);
  const encode = (text: string): number[] => pairs.encode(usesNfc ? text.normalize("NFC") : text);
  const words = nonSpecial.length === 0 ? null : anyOf(nonSpecial);
  return {
    encode(text) {
      if (words === null) return encode(text);
      return text.split(words).flatMap((part, at) => (at % 2 === 0 ? encode(part) : added.get(part)!));
    },
    decode: pairs.decode,
    idOf: (token) => added.get(token) ?? ids.get(token),
    maxId: [...ids.values(), ...added.values()].reduce((max, id) => Math.max(max, id), -1),
  };
}

/**
 * Translates a pattern of the file to JavaScript. `\s` becomes Unicode white space: JavaScript's also matches the
 * byte order mark but not U+0085. Case-insensitive groups are expanded, as older Node versions lack them.
 */
export function patternOf(source: string): RegExp {
  const translated = source
    .replace(/\(\?i:([^()]*)\)/g, (_, inner: string) => `(?:${inner.replace(/[a-z]/gi, bothCases)})`)
    .replaceAll("\\s", "\\p{White_Space}")
    .replaceAll("\\S", "\\P{White_Space}");
  try {
    return new RegExp(translated, "gu");
  } catch (cause) {
    throw new TokenizerError(`its pattern ${source} cannot be translated.`, { cause });
  }
}

/** Returns a class of all letters that Unicode case folding equates. */
function bothCases(letter: string): string {
  const more = { s: "ſ", k: "\u212a" }[letter.toLowerCase()] ?? "";
  return `[${letter.toLowerCase()}${letter.toUpperCase()}${more}]`;
}

/** Matches any of the words, the longest first. */
function anyOf(words: readonly string[]): RegExp {
  const byLength = words.toSorted((a, b) => b.length - a.length);
  const escaped = byLength.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`(${escaped.join("|")})`);
}

type Json = Readonly<Record<string, unknown>>;

function vocabularyOf(file: Json): Vocabulary {
  const model = (file.model ?? {}) as Json;
  if (model.type !== "BPE" || typeof model.vocab !== "object" || !Array.isArray(model.merges)) {
    throw new TokenizerError("it holds no byte pairs (model.type BPE, with vocab and merges).");
  }
  const normalizer = file.normalizer as Json | null | undefined;
  if (normalizer != null && normalizer.type !== "NFC") {
    throw new TokenizerError(`its normalizer is ${normalizer.type}; only NFC or none is known.`);
  }
  const added = (file.added_tokens as AddedToken[] | undefined) ?? [];
  return {
    ids: new Map(Object.entries(model.vocab as Record<string, number>)),
    merges: model.merges.map(mergeOf),
    added: new Map(added.map(({ content, id }) => [content, id])),
    nonSpecial: added.filter(({ special }) => special === false).map(({ content }) => content),
    pieces: piecesOf((file.pre_tokenizer ?? {}) as Json),
    ignoresMerges: model.ignore_merges === true,
    usesNfc: normalizer != null,
  };
}

interface AddedToken {
  readonly content: string;
  readonly id: number;
  readonly special?: boolean;
}

/** Reads a merge: `["a", "b"]`, or `"a b"` in older files. */
function mergeOf(merge: unknown): readonly [string, string] {
  const [left, right] = typeof merge === "string" ? merge.split(" ") : (merge as readonly unknown[]);
  if (typeof left !== "string" || typeof right !== "string") throw new TokenizerError("a merge is no pair.");
  return [left, right];
}

function piecesOf(preTokenizer: Json): RegExp {
  const steps = (preTokenizer.pretokenizers ?? [preTokenizer]) as readonly Json[];
  const [split, bytes] = steps.length === 1 ? [undefined, steps[0]] : steps;
  if (steps.length > 2 || bytes?.type !== "ByteLevel" || bytes.add_prefix_space === true) {
    throw new TokenizerError("its pre_tokenizer is not a split and ByteLevel without a space in front.");
  }
  if (split === undefined) return bytes.use_regex === false ? /[\s\S]+/gu : GPT2_SPLIT;
  const pattern = (split.pattern as Json | undefined)?.Regex;
  if (split.type !== "Split" || typeof pattern !== "string" || split.invert === true || bytes.use_regex) {
    throw new TokenizerError("its pre_tokenizer does not split by one pattern.");
  }
  return patternOf(pattern);
}

/**
 * Reads a Qwen2 tokenizer: `vocab.json`, `merges.txt` and `tokenizer_config.json` (added tokens). The split pattern
 * is in none of them but in Qwen2's code.
 *
 * @throws TokenizerError naming the file
 */
export async function readVocabularyFiles(folder: string): Promise<Tokenizer> {
  const ids = await readObject(folder, "vocab.json");
  const config = await readObject(folder, "tokenizer_config.json");
  const added = Object.entries(addedTo(config)).map(([id, token]) => {
    const content = token?.content;
    if (typeof content !== "string") {
      throw new TokenizerError(`tokenizer_config.json: the added token ${id} has no content.`);
    }
    return {
      content,
      id: idOf(Number(id), "tokenizer_config.json", content),
      isSpelt: token?.special === false,
    };
  });
  return tokenizerOf({
    ids: new Map(Object.entries(ids).map(([token, id]) => [token, idOf(id, "vocab.json", token)])),
    merges: mergesOf(await readText(folder, "merges.txt")),
    added: new Map(added.map(({ content, id }) => [content, id])),
    nonSpecial: added.filter(({ isSpelt }) => isSpelt).map(({ content }) => content),
    pieces: patternOf(QWEN_SPLIT),
    ignoresMerges: false,
    usesNfc: true,
  });
}

type AddedTokens = Readonly<
  Record<string, { readonly content?: unknown; readonly special?: unknown } | null>
>;

function addedTo(config: Readonly<Record<string, unknown>>): AddedTokens {
  const added = config.added_tokens_decoder;
  if (typeof added === "object" && added !== null) return added as AddedTokens;
  throw new TokenizerError("tokenizer_config.json has no added_tokens_decoder.");
}

/** Qwen2's pattern: digits are separate pieces. */
const QWEN_SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

function mergesOf(text: string): [left: string, right: string][] {
  const lines = text.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#version"));
  return lines.map((line) => {
    const [left, right, ...more] = line.split(" ");
    if (!left || !right || more.length > 0) {
      throw new TokenizerError(`merges.txt: ${JSON.stringify(line)} is no pair.`);
    }
    return [left, right];
  });
}

function idOf(id: unknown, file: string, token: string): number {
  if (Number.isSafeInteger(id) && (id as number) >= 0) return id as number;
  throw new TokenizerError(`${file}: the id of ${JSON.stringify(token)} is no whole number.`);
}

async function readObject(folder: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  let value: unknown;
  try {
    value = JSON.parse(await readText(folder, name));
  } catch (cause) {
    if (cause instanceof TokenizerError) throw cause;
    throw new TokenizerError(`${name} is no JSON.`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new TokenizerError(`${name} is no object.`);
}

async function readText(folder: string, name: string): Promise<string> {
  return await readFile(join(folder, name), "utf8").catch((cause: unknown) => {
    throw new TokenizerError(`${name} is missing in ${folder}, or cannot be read.`, { cause });
  });
}
