import { RecogniserError } from "../../model/recogniser.ts";
import { EndpointRefusal, NotATranscriptError } from "./endpoint-failure.ts";

/** The longest answer that is read, and how much of a refusal. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Where an endpoint's routes begin, without a slash at the end. Throws a {@link RecogniserError} when `baseUrl` cannot be used; it may hold a
 * password, so the message does not quote it.
 */
export function checkedUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new RecogniserError(
      "The setting recogniser.baseUrl is no address. Give one as in http://127.0.0.1:8000/v1",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new RecogniserError(
      "The setting recogniser.baseUrl holds a user name or a password. Put the key into ANTIPHON_RECOGNISER_API_KEY or recogniser.apiKeyFile.",
    );
  }
  return baseUrl.replace(/\/+$/, "");
}

/**
 * Posts a form, follows no redirect, and gives the JSON of the answer, of which nothing else is known. Throws an
 * {@link EndpointRefusal} for an answer that is none, {@link NotATranscriptError} for what is no JSON or without end, and
 * what `fetch` throws.
 */
export async function postForm(
  url: string,
  form: FormData,
  apiKey: string | null,
  traceHeaders: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  const headers: Record<string, string> = {
    ...traceHeaders,
    Accept: "application/json",
    "User-Agent": "antiphon",
  };
  if (apiKey !== null) headers.Authorization = `Bearer ${apiKey}`;
  const response = await fetch(url, { method: "POST", body: form, headers, redirect: "manual", signal });
  if (!response.ok) {
    const said = await textOf(response, MAX_REFUSAL_BYTES).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return "";
    });
    throw new EndpointRefusal(response.status, response.headers, said);
  }
  const text = await textOf(response, MAX_ANSWER_BYTES);
  try {
    return JSON.parse(text);
  } catch {
    throw new NotATranscriptError();
  }
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new NotATranscriptError();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
