import { randomBytes } from "node:crypto";

/** The client's own `X-Request-ID` if it is 1 to 128 visible ASCII characters, else a new one of ours. */
export function requestIdFor(header: string | string[] | undefined): string {
  if (typeof header === "string" && /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  return `req_${randomBytes(12).toString("hex")}`;
}
