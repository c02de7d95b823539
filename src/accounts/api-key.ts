import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyChanges } from "./store.ts";
import type { BucketLimits } from "./token-bucket.ts";

/**
 * Form of a presented text: `well-formed` has a valid checksum (and may still be unknown or revoked), `mistyped`
 * begins like a key but is damaged, `foreign` is anything else.
 */
export type KeyShape = "well-formed" | "mistyped" | "foreign";

/** Creates a secret: `ant_`, 32 random base62 characters (190 bits), and 6 characters of CRC-32 over them. */
export function newApiKey(): string {
  const body = PREFIX + randomBase62(32);
  return body + checksum(body);
}

/** Creates a public id of a key: `key_` and 12 random base62 characters, unrelated to the secret. */
export function newKeyId(): string {
  return `key_${randomBase62(12)}`;
}

/** Classifies a text, to tell a typing error from a text that never was a key. */
export function parseApiKey(text: string): KeyShape {
  if (!text.startsWith(PREFIX)) return "foreign";
  const body = text.slice(0, -CHECKSUM_LENGTH);
  const sound = WELL_FORMED.test(text) && checksum(body) === text.slice(-CHECKSUM_LENGTH);
  return sound ? "well-formed" : "mistyped";
}

/** Returns the SHA-256 of a secret as 64 hexadecimal digits: all that is ever stored of it. */
export function hashApiKey(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

const PREFIX = "ant_";
const CHECKSUM_LENGTH = 6;
const WELL_FORMED = /^ant_[0-9A-Za-z]{38}$/;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(62)]).join("");
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62]! + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

export interface NewKey extends BucketLimits {
  /** 1 to 200 characters without control characters. Need not be unique. */
  readonly label: string;
}

/** Maximum rate and burst of a key. */
const MAX_KEY_RATE = 1_000_000;

/** Returns a sentence about an invalid value of a new or changed key, else `null`. Absent values are valid. */
export function keyProblem({ label = "-", rpm = 1, burst = 1 }: KeyChanges): string | null {
  if (label.trim() === "") return "The label is empty: say whose key it is.";
  if (label.length > 200) return "The label is longer than 200 characters: shorten it.";
  if (!label.isWellFormed() || /\p{Cc}/u.test(label)) {
    return "The label has control characters or unpaired surrogates: remove them.";
  }
  for (const [name, value] of Object.entries({ rpm, burst })) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_KEY_RATE) {
      return `The ${name} is ${value}, but it must be a whole number from 1 to ${MAX_KEY_RATE}.`;
    }
  }
  return null;
}
