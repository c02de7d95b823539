import type { CastVoice } from "../../core/model-card.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import type { RemoteOptions } from "./dialect.ts";
import { Exchange, keptConnections } from "./exchange.ts";
import { readVoiceList } from "./read-voice-list.ts";

/** Voices of a list that are read. */
export const MAX_LISTED = 1_000;
/** An answer that is longer is no list of voices. */
const MAX_BYTES = 512 * 1_024;
/** Until the list is there, all addresses together. */
const DEADLINE_MS = 2_000;

/**
 * The voices that a server says it has, by its `GET /audio/voices`; none where it has no such list, or does not give it in
 * time. Never rejects.
 */
export async function listVoices(
  options: Pick<RemoteOptions, "kind" | "urls" | "model" | "apiKey">,
  deadlineMs: number = DEADLINE_MS,
): Promise<readonly CastVoice[]> {
  const { urls } = options;
  const untilMs = performance.now() + deadlineMs;
  for (const [index, url] of urls.entries()) {
    // One that is silent leaves time for the others.
    const ms = (untilMs - performance.now()) / (urls.length - index);
    try {
      const list = await jsonAt(new URL(`${url.replace(/\/+$/, "")}/audio/voices`), options, ms);
      return readVoiceList(list, options, MAX_LISTED);
    } catch {
      // The next may know.
    }
  }
  return [];
}

async function jsonAt(url: URL, { apiKey }: Pick<RemoteOptions, "apiKey">, ms: number): Promise<unknown> {
  const headers = {
    Accept: "application/json",
    "User-Agent": "antiphon",
    ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }),
  };
  const exchange = new Exchange({ method: "GET", url, headers, body: [] }, keptConnections(), true);
  const timer = setTimeout(() => exchange.fail(new AttemptError("gave no list of voices in time")), ms);
  try {
    checkStatus(await exchange.head());
    const pieces: Uint8Array[] = [];
    let count = 0;
    for (let piece = await exchange.next(); piece !== null; piece = await exchange.next()) {
      count += piece.length;
      if (count > MAX_BYTES) throw permanentError("sent a list of voices without end");
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString("utf8"));
  } finally {
    clearTimeout(timer);
    exchange.fail(new AttemptError("is not listened to any more"));
  }
}
