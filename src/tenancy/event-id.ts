import { randomBytes } from "node:crypto";

/**
 * A new id for an event: a UUID of version 7 (RFC 9562), which begins with its time in milliseconds. So the ledger grows
 * at one end and is forgotten at the other.
 */
export function newEventId(nowMs: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
