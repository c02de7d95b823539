import { LruCache } from "../../collections/lru-cache.ts";
import { ConversationError } from "../../model/speech-model.ts";
import type { TextReader } from "../../planning/read-text.ts";
import { CALIBRATION, type Calibration, makeStatistics, readStatistics } from "./statistics.ts";
import type { StatisticsLine } from "./statistics-line.ts";
import { mean, readVoice, type StylePart, voicesIn } from "./voices.ts";

/** A voice, ready to speak. */
interface ReadyVoice {
  readonly parts: readonly StylePart[];
  /** Means and variances of the decoder's norms. */
  readonly statistics: StatisticsLine;
}

/** One of Kokoro's voices, and how much of it there is in a mix. */
interface NamedPart {
  readonly weight: number;
  readonly id: string;
}

type Parts = Omit<Calibration, "sentences"> & { readonly reader: TextReader };

/** Voices that are kept at hand, each of 0.7 MB. */
const KEPT = 32;

/** The voices of a checkpoint, read when they are first spoken with. */
export class CastVoices {
  readonly #parts: Parts;
  readonly #known = new LruCache<Promise<ReadyVoice>>(KEPT);

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * A voice, or several mixed: the weighted mean of their styles, and of their statistics.
   *
   * @throws ConversationError when there is none of that name; WeightsError when its file is damaged; the signal's reason
   */
  async cast(named: readonly NamedPart[], signal: AbortSignal): Promise<ReadyVoice> {
    const ready = await Promise.all(
      named.map(async ({ id, weight }) => ({ weight, ...(await this.#voice(id)) })),
    ).catch((error: unknown) => {
      // Whoever closes the model takes its graphs from under what is measured.
      signal.throwIfAborted();
      throw error;
    });
    signal.throwIfAborted();
    return {
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
    const { folder, made, reader } = this.#parts;
    const { signal } = new AbortController();
    if (!(await voicesIn(folder)).includes(id)) {
      throw new ConversationError(`this model has no voice “${id}”: GET /v1/audio/voices lists them`);
    }
    const table = await readVoice(folder, id);
    const known = await readStatistics(folder, table, made.facts.statistics, signal);
    const sentences = async (): Promise<readonly (readonly number[])[]> => {
      const read = await Promise.all(CALIBRATION.map((sentence) => reader.read(sentence)));
      return read.flat().map(({ ids }) => ids);
    };
    const statistics = known ?? (await makeStatistics({ ...this.#parts, sentences }, table, signal));
    return { parts: [{ weight: 1, table }], statistics };
  }
}
