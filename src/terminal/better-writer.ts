import { get } from "node:http";
import { totalmem } from "node:os";
import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER, findCheckpoint } from "../catalogue/checkpoints.ts";
import { ownManifests } from "../catalogue/folder-records.ts";
import { hubWriterOf } from "../catalogue/hub/hub-manifest.ts";
import { HUB_WRITERS, type HubWriter } from "../catalogue/hub-writers.ts";
import { inspectCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { firstSentenceS, knownSpeed } from "../catalogue/writer-speed.ts";
import type { Settings } from "../settings/schema.ts";

/** A server with language models that people run beside this one. */
export interface Neighbour {
  readonly name: string;
  readonly port: number;
  /** What its list of models says of who owns one; absent where nobody else listens at its port. */
  readonly ownedBy?: string;
}

/** Where they listen unless they are told otherwise. */
const NEIGHBOURS: readonly Neighbour[] = [
  { name: "Ollama", port: 11_434 },
  { name: "LM Studio", port: 1_234 },
  // Half the programs of the world listen there, and so does Antiphon.
  { name: "llama.cpp's server", port: 8_080, ownedBy: "llamacpp" },
];

export interface Surroundings {
  /** The port that the server itself listens on. */
  readonly ownPort: number;
  readonly signal: AbortSignal;
  readonly neighbours?: readonly Neighbour[];
  readonly memoryBytes?: number;
}

/**
 * What whoever runs a server might write replies with instead of the small model, as a line with the command for it;
 * `null` where something else writes, or there is nothing to offer. Nothing is measured, loaded or changed: each
 * neighbour is asked once, without a key, for the models that it has. Never throws.
 */
export async function betterWriter(
  { writer, dataDir }: Pick<Settings, "writer" | "dataDir">,
  { ownPort, signal, neighbours = NEIGHBOURS, memoryBytes = totalmem() }: Surroundings,
): Promise<string | null> {
  const isDefault = writer.checkpoint === DEFAULT_WRITER || writer.checkpoint === "writer";
  if (writer.kind !== "embedded" || !isDefault) return null;
  const asked = neighbours.filter(({ port }) => port !== ownPort);
  const models = await Promise.all(asked.map((neighbour) => modelOf(neighbour, signal)));
  const at = models.findIndex((model) => model !== null);
  if (at >= 0) {
    const { name, port } = asked[at]!;
    return (
      `${SIMPLE} ${name} runs here; to have its ${models[at]} write: ANTIPHON_WRITER_KIND=chat ` +
      `ANTIPHON_WRITER_BASE_URL=http://127.0.0.1:${port}/v1 ANTIPHON_WRITER_MODEL=${models[at]} npx antiphon serve`
    );
  }
  return memoryBytes < MIN_MEMORY_BYTES ? null : pulledOrNot(dataDir, writer.threads).catch(() => null);
}

const SIMPLE = "Replies are simple.";
/** A machine that is sold with 4 GB. */
const MIN_MEMORY_BYTES = 3.5e9;

/** The best of the known models, whether it is there or is to be pulled. */
async function pulledOrNot(dataDir: string, threads: number): Promise<string | null> {
  const [best] = HUB_WRITERS.filter(({ rank }) => rank !== null && rank > 0).sort(
    (one, other) => other.rank! - one.rank!,
  );
  if (best === undefined) return null;
  const own = (await ownManifests(dataDir)).flatMap(({ manifest }) => manifest ?? []);
  const seconds = await reckonedS(best, own, dataDir, threads);
  const when = seconds === null ? "" : `, first words after about ${seconds.toFixed(1)} s here`;
  const serve = `ANTIPHON_WRITER_CHECKPOINT=${best.name} npx antiphon serve`;
  const there = own.find((manifest) => hubWriterOf(manifest) === best);
  if (there !== undefined && (await inspectCheckpoint(there, dataDir)).state === "installed") {
    return `${SIMPLE} ${best.displayName} is installed${when}; to have it write: ${serve}`;
  }
  const size = best.known === undefined ? "" : `${(best.known.sizeBytes / 1e9).toFixed(1)} GB, `;
  return (
    `${SIMPLE} npx antiphon models pull ${best.name} fetches ${best.displayName} (${size}${best.licence})${when}; ` +
    `then ${serve}`
  );
}

/** Seconds to a first sentence by what was measured here once, of that model or of another; `null` where nothing was. */
async function reckonedS(
  wanted: HubWriter,
  own: readonly CheckpointManifest[],
  dataDir: string,
  threads: number,
): Promise<number | null> {
  const small = findCheckpoint(DEFAULT_WRITER);
  const known = own.flatMap((manifest) => {
    const writer = hubWriterOf(manifest);
    return writer === undefined ? [] : [{ manifest, times: wanted.parametersB / writer.parametersB }];
  });
  if (small !== undefined) known.push({ manifest: small, times: TIMES_SMALL });
  // The nearest in size tells most.
  for (const { manifest, times } of known.sort((one, other) => distance(one.times) - distance(other.times))) {
    const speed = await knownSpeed(manifest, dataDir, threads);
    if (speed !== null) return times * firstSentenceS(speed);
  }
  return null;
}

function distance(times: number): number {
  return Math.abs(Math.log(times));
}

/** How much longer 1.5 billion parameters take than the small model, as measured: less than they are more. */
const TIMES_SMALL = 7;

/** A model that chats of whoever listens at a port; `null` where nobody does, or who it is cannot be told. */
async function modelOf({ port, ownedBy }: Neighbour, signal: AbortSignal): Promise<string | null> {
  try {
    const list: unknown = JSON.parse(
      await answerOf(port, AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)])),
    );
    const { data } = list as { data: readonly { readonly id: unknown; readonly owned_by?: unknown }[] };
    const names = data.flatMap(({ id, owned_by }) =>
      typeof id === "string" && NAME.test(id) && (ownedBy === undefined || owned_by === ownedBy) ? [id] : [],
    );
    return names.find((name) => !NO_CHAT.test(name)) ?? null;
  } catch {
    return null;
  }
}

/** The body of its list of models. A redirect is no answer, and is not followed; no proxy is asked. */
function answerOf(port: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path: "/v1/models", agent: false as const, signal };
    const request = get(options, async (response) => {
      try {
        if (response.statusCode !== 200) throw new Error("no list of models");
        let body = "";
        for await (const chunk of response.setEncoding("utf8")) {
          body += chunk;
          if (body.length > MAX_CHARS) throw new Error("too long for a list of models");
        }
        resolve(body);
      } catch (error) {
        request.destroy();
        reject(error);
      }
    });
    request.on("error", reject);
    request.on("socket", (socket) => socket.unref());
  });
}

const WAIT_MS = 500;
const MAX_CHARS = 1 << 18;
/** What can be pasted into a shell, and does nothing to a terminal. */
const NAME = /^[A-Za-z0-9][\w.:/@+-]{0,127}$/;
/** What such servers list beside language models. */
const NO_CHAT = /embed|rerank|whisper|minilm|(?:^|[/-])bge-|clip/i;
