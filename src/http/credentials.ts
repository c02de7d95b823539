import type { IncomingHttpHeaders } from "node:http";

/** Headers that may hold nothing but the key, in the order in which they are looked at: Azure's, ElevenLabs', Vapi's too. */
export const KEY_HEADERS = ["X-API-Key", "api-key", "xi-api-key", "X-VAPI-SECRET"] as const;

/**
 * The API key that a request presents, or null. `Authorization` decides where it is there, and a scheme other than
 * `Bearer` is a missing key; then the first of {@link KEY_HEADERS} that is not empty does, whatever the others hold.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
  for (const name of KEY_HEADERS) {
    const key = headers[name.toLowerCase()];
    if (typeof key === "string" && key.trim() !== "") return key.trim();
  }
  return null;
}
