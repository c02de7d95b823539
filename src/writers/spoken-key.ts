import { createHmac, randomBytes } from "node:crypto";

const SECRET = randomBytes(32);

/** Returns a cache key for what somebody said. It reveals nothing of the text, not even to a guess. */
export function spokenKey(text: string): string {
  return createHmac("sha256", SECRET).update(text).digest("base64");
}
