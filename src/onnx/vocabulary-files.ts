import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { patternOf, type Tokenizer, TokenizerError, tokenizerOf } from "./tokenizer-file.ts";

/**
 * Reads the three files that a tokenizer of Qwen2's kind is published as: `vocab.json`, `merges.txt` and
 * `tokenizer_config.json`, for the tokens beside the text's.
 *
 * How a text is split ahead of the pairing is in none of them, but in the code of Qwen2's tokenizer.
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
    spelt: added.filter(({ isSpelt }) => isSpelt).map(({ content }) => content),
    pieces: patternOf(QWEN_PIECES),
    takesWholePieces: false,
    composes: true,
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

/** Qwen2's pattern: each digit is a piece of its own. */
const QWEN_PIECES =
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
