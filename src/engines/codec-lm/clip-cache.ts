import { LruCache } from "../../audio/lru-cache.ts";

/** Clips of which something is kept. */
const MAX_CLIPS = 64;

/** What was made of clips, for those that come again: in every turn of a conversation the client sends them anew. */
export class ClipCache<T> {
  readonly #kept = new LruCache<T>(MAX_CLIPS);

  /** @param digests of all that is heard together; where one is not known, nothing is kept */
  async of(digests: readonly (string | undefined)[], make: () => Promise<T>): Promise<T> {
    if (digests.includes(undefined)) return await make();
    const key = digests.join(" ");
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const made = await make();
    this.#kept.set(key, made);
    return made;
  }
}
