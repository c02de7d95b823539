import { LruCache } from "../../audio/lru-cache.ts";
import type { VoicePart } from "../../core/script.ts";
import { ConversationError } from "../../core/speech-model.ts";
import type { OwnProfile } from "./own-profile.ts";
import { type Calibration, makeStatistics, readStatistics } from "./statistics.ts";
import type { StatisticsLine } from "./statistics-line.ts";
import { mean, readStyles, type StylePart, voicesIn } from "./voices.ts";

/** A voice, ready to speak. */
export interface ReadyVoice {
  readonly parts: readonly StylePart[];
  /** Means and variances of the decoder's norms. */
  readonly statistics: StatisticsLine;
  /** Of a mix, that of the voice of which it has most. */
  readonly own: OwnProfile;
}

/** One of Kokoro's voices, and how much of it there is in a mix. */
export type WeightedVoice = Extract<VoicePart, { readonly id: string }>;

/** Voices that are kept at hand, each of 0.7 MB. */
const KEPT = 32;

/** The voices of a checkpoint, read when they are first spoken with. */
export class CastVoices {
  readonly #parts: Calibration;
  readonly #known = new LruCache<Promise<ReadyVoice>>(KEPT);

  constructor(parts: Calibration) {
    this.#parts = parts;
  }

  /**
   * A voice, or several mixed: the weighted mean of their styles, and of their statistics.
   *
   * @throws ConversationError when there is none of that name; WeightsError when its file is damaged; the signal's reason
   */
  async cast(named: readonly WeightedVoice[], signal: AbortSignal): Promise<ReadyVoice> {
    const ready = await Promise.all(
      named.map(async ({ id, weight }) => ({ weight, ...(await this.#voice(id)) })),
    ).catch((error: unknown) => {
      // Whoever closes the model takes its graphs from under what is measured.
      signal.throwIfAborted();
      throw error;
    });
    signal.throwIfAborted();
    const most = ready.reduce((a, b) => (b.weight > a.weight ? b : a));
    return {
      own: most.own,
      parts: ready.flatMap(({ weight, parts }) => parts.map(({ table }) => ({ weight, table }))),
      statistics: {
        level: mean(ready, ({ statistics }) => statistics.level),
        slope: mean(ready, ({ statistics }) => statistics.slope),
        floor: mean(ready, ({ statistics }) => statistics.floor),
      },
    };
  }

  /** Made once for all who want it; one that could not be made is tried again. */
  #voice(id: string): Promise<ReadyVoice> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const made = this.#read(id);
    this.#known.set(id, made);
    made.catch(() => this.#known.delete(id));
    return made;
  }

  async #read(id: string): Promise<ReadyVoice> {
    const { folder, made } = this.#parts;
    const { signal } = new AbortController();
    if (!(await voicesIn(folder)).includes(id)) {
      throw new ConversationError(`this model has no voice “${id}”: GET /v1/audio/voices lists them`);
    }
    const table = await readStyles(folder, id);
    const known = await readStatistics(folder, table, made.facts.statistics, signal);
    const { line, own } = known ?? (await makeStatistics(this.#parts, table, signal));
    return { parts: [{ weight: 1, table }], statistics: line, own };
  }
}
