import type { VoiceRecord } from "../../accounts/voice-store.ts";
import { LruCache } from "../../audio/lru-cache.ts";
import type { Clip } from "../../core/conversation.ts";

/** Decoded recordings that are kept, of up to 2.9 MB each. */
const MAX_DECODED = 16;
/** How often those are let go that were not used since the last time, in milliseconds. */
const SWEEP_MS = 300_000;

interface Decoded {
  readonly keyId: string;
  readonly clip: Promise<Clip | null>;
  isUsed: boolean;
}

/**
 * Recordings of voices, decoded once for all requests that come together or soon after one another. A voice may be deleted
 * on another server, which tells nobody: so one is let go as soon as this server hears of it, and else when it was not used
 * for ten minutes.
 */
export class DecodedVoices {
  readonly #decoded = new LruCache<Decoded>(MAX_DECODED);
  #isSwept = false;

  /**
   * The recording of a voice; `null` where there is none any more.
   *
   * @param decode has it read and decoded
   * @param isThere whether there is such a voice, asked once that is done: it may have been deleted meanwhile
   */
  clipOf(
    { voiceId, keyId }: VoiceRecord,
    decode: () => Promise<Clip | null>,
    isThere: () => Promise<boolean>,
  ): Promise<Clip | null> {
    const known = this.#decoded.get(voiceId);
    if (known !== undefined) {
      known.isUsed = true;
      return known.clip;
    }
    const clip = decode();
    this.#decoded.set(voiceId, { keyId, clip, isUsed: true });
    this.#sweepSoon();
    const forget = (): void => this.forget(voiceId);
    clip
      .then(async (found) => {
        if (found === null || !(await isThere())) forget();
      })
      .catch(forget);
    return clip;
  }

  forget(voiceId: string): void {
    this.#decoded.delete(voiceId);
  }

  /** Lets go of what is not among all the voices that a key has. */
  keepOnly(keyId: string, voices: readonly VoiceRecord[]): void {
    const ids = new Set(voices.map(({ voiceId }) => voiceId));
    this.#forgetWhere((decoded, voiceId) => decoded.keyId === keyId && !ids.has(voiceId));
  }

  #sweepSoon(): void {
    if (this.#isSwept) return;
    this.#isSwept = true;
    setTimeout(() => {
      this.#isSwept = false;
      this.#forgetWhere(({ isUsed }) => !isUsed);
      for (const [, decoded] of this.#decoded.entries()) decoded.isUsed = false;
      if (this.#decoded.size > 0) this.#sweepSoon();
    }, SWEEP_MS).unref();
  }

  #forgetWhere(isGone: (decoded: Decoded, voiceId: string) => boolean): void {
    for (const [voiceId, decoded] of this.#decoded.entries())
      if (isGone(decoded, voiceId)) this.forget(voiceId);
  }
}
