import type { IncomingHttpHeaders } from "node:http";

/**
 * The API key that a request presents, or null. `Authorization` decides when both headers are there; a scheme other
 * than `Bearer` is a missing key.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
  const apiKey = headers["x-api-key"];
  return typeof apiKey === "string" && apiKey.trim() !== "" ? apiKey.trim() : null;
}
