import { fileName } from "../download/hub/hub-name.ts";
import { PullError } from "../download/pull-error.ts";
import type { KnownCodecLm } from "./known-checkpoints.ts";

/** What a kind of checkpoint consists of, beside its weights. */
interface Parts {
  readonly needed: readonly string[];
  /** Taken along where the repository has them. */
  readonly more: readonly string[];
  /** The folders within it that have weights of their own; "" is its own. */
  readonly weighted: readonly string[];
}

const PARTS: Readonly<Record<KnownCodecLm["kind"], Parts>> = {
  csm: {
    needed: ["config.json", "generation_config.json", "tokenizer.json"],
    more: [
      "tokenizer_config.json",
      "special_tokens_map.json",
      "preprocessor_config.json",
      "processor_config.json",
    ],
    weighted: [""],
  },
  qwen3_tts: {
    needed: [
      "config.json",
      "generation_config.json",
      "vocab.json",
      "merges.txt",
      "tokenizer_config.json",
      "speech_tokenizer/config.json",
    ],
    more: [
      "preprocessor_config.json",
      "speech_tokenizer/configuration.json",
      "speech_tokenizer/preprocessor_config.json",
    ],
    weighted: ["", "speech_tokenizer/"],
  },
};

const WEIGHTS = "model.safetensors";
const INDEX = ".index.json";

/**
 * Which files of a repository a checkpoint consists of, the small ones first. A repository may hold other copies of the
 * weights, in layouts that are not read here: what `config.json` names is taken, and what the index of several lists.
 *
 * @param there paths of the repository
 * @param read fetches one of them and gives its text
 * @throws PullError naming what the repository lacks
 */
export async function checkpointFiles(
  { kind, repository }: Pick<KnownCodecLm, "kind" | "repository">,
  there: ReadonlySet<string>,
  read: (path: string) => Promise<string>,
): Promise<string[]> {
  const { needed, more, weighted } = PARTS[kind];
  const files = [...needed, ...more.filter((path) => there.has(path))];
  const need = (path: string, why: string): string => {
    if (there.has(path)) return path;
    throw new PullError(
      `The repository ${repository} has no ${path}, ${why}: it is not the checkpoint that it was.`,
    );
  };
  for (const path of needed) need(path, "which the checkpoint needs");
  for (const folder of weighted) {
    const named =
      folder === "" ? textIn(await read("config.json"), "config.json", "transformers_weights") : null;
    const weights = `${folder}${named ?? WEIGHTS}`;
    const path = there.has(weights) || weights.endsWith(INDEX) ? weights : `${weights}${INDEX}`;
    need(path, "where its weights should be");
    if (path.endsWith(INDEX)) {
      const shards = shardsIn(await read(path), path);
      files.push(path, ...shards.map((shard) => need(`${folder}${shard}`, `which ${path} names`)));
    } else {
      files.push(path);
    }
  }
  return files;
}

/** What a person is told that a checkpoint takes before any of its files has been read, in bytes. */
export function likelyBytes(files: readonly { readonly path: string; readonly sizeBytes: number }[]): number {
  const isIndexed = files.some(({ path }) => path.endsWith(`transformers.safetensors${INDEX}`));
  return files
    .filter(({ path }) => /\.(safetensors|json|txt)$/.test(path))
    .filter(({ path }) => !isIndexed || !/^model[^/]*\.safetensors$/.test(path))
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** A name in a JSON object; `null` where it has none. */
function textIn(json: string, path: string, field: string): string | null {
  const value = objectIn(json, path)[field];
  if (value === undefined || value === null) return null;
  if (typeof value === "string" && value === fileName(value) && /\.(safetensors|index\.json)$/.test(value))
    return value;
  throw new PullError(`In ${path} of the hub, ${field} names no weights: ${JSON.stringify(value)}.`);
}

function shardsIn(json: string, path: string): string[] {
  const map = objectIn(json, path).weight_map;
  const shards = new Set<unknown>(typeof map === "object" && map !== null ? Object.values(map) : []);
  const named = [...shards].filter(
    (shard): shard is string =>
      typeof shard === "string" && shard === fileName(shard) && shard.endsWith(".safetensors"),
  );
  if (named.length > 0 && named.length === shards.size) return named.sort();
  throw new PullError(`${path} of the hub does not say in which files the weights are.`);
}

function objectIn(json: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new PullError(`${path} of the hub is no JSON object: nothing can be made of it.`);
}
