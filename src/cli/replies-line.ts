import { get } from "node:http";
import { KNOWN_WRITERS } from "../models/known-hub-models.ts";
import { isSmallTalk } from "../server/endpoint-settings.ts";
import type { Settings } from "../settings/schema.ts";

/** Server of language models that people run on the same machine. */
export interface ModelServer {
  readonly name: string;
  readonly port: number;
  /** Required `owned_by` of its models; absent if the port is distinctive. */
  readonly ownedBy?: string;
}

/** Default ports. */
const MODEL_SERVERS: readonly ModelServer[] = [
  { name: "Ollama", port: 11_434 },
  { name: "LM Studio", port: 1_234 },
  // Other programs use this port too, Antiphon among them: check `owned_by`.
  { name: "llama.cpp's server", port: 8_080, ownedBy: "llamacpp" },
];

/**
 * Returns a line that says what writes replies and, if they are small talk, what to run for better ones. For that, each model
 * server is asked once, without a key, which models it has. Never throws.
 *
 * @param ownPort the port that this server itself listens on
 */
export async function repliesLine(
  { writer }: Pick<Settings, "writer">,
  ownPort: number,
  signal: AbortSignal,
  servers: readonly ModelServer[] = MODEL_SERVERS,
): Promise<string> {
  if (writer.kind === "none") return "Nothing writes replies: writer.kind is none.";
  if (!isSmallTalk(writer)) {
    const { kind, checkpoint, path, model } = writer;
    return `Replies are written by ${{ embedded: checkpoint, gguf: path, chat: model }[kind]}.`;
  }
  const asked = servers.filter(({ port }) => port !== ownPort);
  const models = await Promise.all(asked.map((server) => modelOf(server, signal)));
  const at = models.findIndex((model) => model !== null);
  if (at < 0) {
    const { name, sizeGb } = KNOWN_WRITERS[0]!;
    return (
      `Replies are small talk. For a language model (${sizeGb} GB): npx antiphon models pull ${name} && ` +
      `ANTIPHON_WRITER_CHECKPOINT=${name} npx antiphon serve`
    );
  }
  const { name, port } = asked[at]!;
  return (
    `Replies are small talk. ${name} runs here; to have its ${models[at]} write: ANTIPHON_WRITER_KIND=chat ` +
    `ANTIPHON_WRITER_BASE_URL=http://127.0.0.1:${port}/v1 ANTIPHON_WRITER_MODEL=${models[at]} npx antiphon serve`
  );
}

/** Returns the first chat model of the server at a port, or null. */
async function modelOf({ port, ownedBy }: ModelServer, signal: AbortSignal): Promise<string | null> {
  try {
    const list: unknown = JSON.parse(
      await listOf(port, AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)])),
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

/** Fetches /v1/models. Follows no redirect, uses no proxy. */
function listOf(port: number, signal: AbortSignal): Promise<string> {
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
/** Safe to paste into a shell and to print on a terminal. */
const NAME = /^[A-Za-z0-9][\w.:/@+-]{0,127}$/;
/** Models that cannot chat. */
const NO_CHAT = /embed|rerank|whisper|minilm|(?:^|[/-])bge-|clip/i;
