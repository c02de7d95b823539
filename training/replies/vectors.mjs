import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openLlama } from "../../dist/src/writers/llama/llama-runtime.js";
import { SentenceEncoder } from "../../dist/src/writers/llama/sentence-encoder.js";
import { sha256 } from "../../dist/src/writers/packaged-file.js";
import { ENCODER_FILE, REPLIES_DIR } from "../../dist/src/writers/small-talk/canned-replies.js";

/** What is made on the way, and kept from one run to the next. */
export const CACHE = join(dirname(fileURLToPath(import.meta.url)), ".cache");

/** The encoder, with the vectors that it has made before. */
export async function openVectors() {
  const path = join(REPLIES_DIR, ENCODER_FILE);
  const bytes = readFileSync(path);
  const file = { sha256: sha256(bytes), bytes: bytes.length };
  mkdirSync(CACHE, { recursive: true });
  const kept = join(CACHE, `${file.sha256.slice(0, 16)}.jsonl`);
  const known = new Map();
  if (existsSync(kept))
    for (const line of readFileSync(kept, "utf8").split("\n").filter(Boolean)) {
      const [key, vector] = line.split(" ");
      known.set(key, new Float32Array(new Uint8Array(Buffer.from(vector, "base64")).buffer));
    }
  const encoder = await SentenceEncoder.open(await openLlama(), path);
  const never = new AbortController().signal;
  const fresh = [];
  return {
    file,
    /** A text's vector, of length 1. */
    async of(text) {
      const key = createHash("sha256").update(text).digest("base64url");
      if (!known.has(key)) {
        known.set(key, await encoder.unitVectorOf(text, never));
        fresh.push(key);
      }
      return known.get(key);
    },
    async close() {
      const lines = fresh.map((key) => `${key} ${Buffer.from(known.get(key).buffer).toString("base64")}\n`);
      writeFileSync(kept, lines.join(""), { flag: "a" });
      await encoder.close();
    },
  };
}
