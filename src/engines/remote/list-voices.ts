import { isRecord } from "../../core/is-record.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import type { RemoteOptions } from "./dialect.ts";
import { createConnections, HttpExchange } from "./http-exchange.ts";

export const MAX_LISTED_VOICES = 1_000;
const MAX_BYTES = 512 * 1_024;
/** Deadline for all addresses together. */
const DEADLINE_MS = 2_000;

/**
 * Returns the voices that a server lists at `GET /audio/voices`; none if it has no list or is too slow. Never
 * rejects.
 */
export async function listVoices(
  options: Pick<RemoteOptions, "kind" | "urls" | "model" | "apiKey">,
  deadlineMs: number = DEADLINE_MS,
): Promise<readonly ModelVoice[]> {
  const { urls } = options;
  const untilMs = performance.now() + deadlineMs;
  for (const [index, url] of urls.entries()) {
    // Reserve time for the remaining addresses.
    const ms = (untilMs - performance.now()) / (urls.length - index);
    try {
      const list = await fetchJson(new URL(`${url.replace(/\/+$/, "")}/audio/voices`), options, ms);
      return readVoiceList(list, options, MAX_LISTED_VOICES);
    } catch {
      // Try the next.
    }
  }
  return [];
}

async function fetchJson(url: URL, { apiKey }: Pick<RemoteOptions, "apiKey">, ms: number): Promise<unknown> {
  const headers = {
    Accept: "application/json",
    "User-Agent": "antiphon",
    ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
  };
  const exchange = new HttpExchange({ method: "GET", url, headers, body: [] }, createConnections(), true);
  const timer = setTimeout(() => exchange.fail(new AttemptError("sent no list of voices in time")), ms);
  try {
    checkStatus(await exchange.head());
    const pieces: Uint8Array[] = [];
    let count = 0;
    for (let piece = await exchange.next(); piece !== null; piece = await exchange.next()) {
      count += piece.length;
      if (count > MAX_BYTES) throw permanentError("sent a list of voices that is too long");
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } finally {
    clearTimeout(timer);
    exchange.fail(new AttemptError("is no longer needed"));
  }
}

/** Maximum lengths in UTF-16 units. */
const MAX_ID = 100;
const MAX_DESCRIPTION = 300;

/**
 * Parses a response of `GET /audio/voices`, each voice once. Antiphon's have descriptions; other servers return
 * names, or objects with an id or a name, in an array, or in `voices` or `data`. Skips everything else.
 *
 * @param list untrusted JSON
 */
export function readVoiceList(
  list: unknown,
  { kind, model }: Pick<RemoteOptions, "kind" | "model">,
  maxVoices: number,
): readonly ModelVoice[] {
  const entries = kind === "antiphon" ? antiphonVoices(list, model) : genericVoices(list);
  const byId = new Map<string, ModelVoice>();
  for (const entry of entries) {
    if (byId.size === maxVoices) break;
    const voice = parseListedVoice(entry, kind);
    const key = voice?.id.toLowerCase() ?? "";
    if (voice !== null && !byId.has(key)) byId.set(key, voice);
  }
  return [...byId.values()];
}

/** Returns the voices of the model; for the default model, whose name is unknown, those in the menu. */
function antiphonVoices(list: unknown, model: string | null): readonly unknown[] {
  const { data, voices } = isRecord(list) ? list : {};
  if (!Array.isArray(data)) return [];
  if (model !== null) {
    return data.filter((each) => isRecord(each) && Array.isArray(each.models) && each.models.includes(model));
  }
  const menu = new Set(Array.isArray(voices) ? voices.map((each) => (isRecord(each) ? each.id : null)) : []);
  return data.filter((each) => isRecord(each) && menu.has(each.id));
}

function genericVoices(list: unknown): readonly unknown[] {
  const { voices, data } = isRecord(list) ? list : {};
  return [voices, data, list].find((each) => Array.isArray(each)) ?? [];
}

function parseListedVoice(entry: unknown, kind: RemoteOptions["kind"]): ModelVoice | null {
  const fields: Record<string, unknown> = isRecord(entry) ? entry : { id: entry };
  // A voice of the key has an id that is meaningless here, and also answers to its name.
  const id = fields.owner === "key" ? fields.name : (fields.id ?? fields.voice_id ?? fields.name);
  if (!isText(id, MAX_ID)) return null;
  const plain: ModelVoice = {
    id,
    name: id,
    sex: null,
    language: null,
    description: `The server's voice “${id}”.`,
    aliases: [],
  };
  if (kind !== "antiphon") return plain;
  // Older servers call it the accent.
  const { name, sex, accent, language = accent, description } = fields;
  return {
    ...plain,
    ...(isText(name, MAX_ID) ? { name } : {}),
    ...(sex === "female" || sex === "male" ? { sex } : {}),
    ...(isText(language, MAX_LANGUAGE_TAG) ? { language } : {}),
    ...(isText(description, MAX_DESCRIPTION) ? { description } : {}),
  };
}

/** Longer than any language tag. */
const MAX_LANGUAGE_TAG = 35;

function isText(value: unknown, maxLength: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= maxLength;
}

const REFRESH_AFTER_MS = 60_000;

/**
 * Caches a list of voices, requested on first use and refreshed in the background. Only the first call waits. Never
 * rejects: a list that fails is empty.
 *
 * @param nowMs steady clock in milliseconds
 */
export function cacheVoices(
  ask: () => Promise<readonly ModelVoice[]>,
  nowMs: () => number = () => performance.now(),
): () => Promise<readonly ModelVoice[]> {
  let known: readonly ModelVoice[] | null = null;
  let asked: Promise<readonly ModelVoice[]> | null = null;
  let askedAtMs = 0;
  const answer = async (): Promise<readonly ModelVoice[]> => {
    known = await ask().catch(() => []);
    return known;
  };
  return async () => {
    if (asked === null || nowMs() - askedAtMs >= REFRESH_AFTER_MS) {
      askedAtMs = nowMs();
      asked = answer();
    }
    return known ?? asked;
  };
}
