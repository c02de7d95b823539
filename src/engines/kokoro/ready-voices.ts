import { LruCache } from "../../audio/lru-cache.ts";
import type { VoicePart } from "../../core/script.ts";
import { ConversationError } from "../../core/speech-model.ts";
import { openTextReader } from "../prosody/read-text.ts";
import type { BaselineProfile } from "./baseline-profile.ts";
import { openConvertedGraphs } from "./graphs/converted-graphs.ts";
import { openKokoro } from "./network.ts";
import {
  type MeasuringOptions,
  measureVoice,
  type NormStatistics,
  readMeasuredVoice,
} from "./norm-statistics.ts";
import { mean, readStyles, type StylePart, voicesIn } from "./voices.ts";

export interface ReadyVoice {
  readonly parts: readonly StylePart[];
  readonly statistics: NormStatistics;
  /** Baseline of the voice; for a mix, of the voice with the most weight. */
  readonly baseline: BaselineProfile;
}

/** One of Kokoro's voices with its weight in a mix. */
export type WeightedVoice = Extract<VoicePart, { readonly id: string }>;

/** Returns the part with the most weight, the first of equals. */
export function heaviest<T extends { readonly weight: number }>(parts: readonly T[]): T {
  return parts.reduce((a, b) => (b.weight > a.weight ? b : a));
}

/** Cached voices, 0.7 MB each. */
const MAX_CACHED = 32;

export class ReadyVoices {
  readonly #parts: MeasuringOptions;
  readonly #known = new LruCache<Promise<ReadyVoice>>(MAX_CACHED);

  constructor(parts: MeasuringOptions) {
    this.#parts = parts;
  }

  /**
   * Returns a voice, or the weighted mean of several. @throws ConversationError, WeightsError, the signal's reason
   */
  async cast(named: readonly WeightedVoice[], signal: AbortSignal): Promise<ReadyVoice> {
    const ready = await Promise.all(
      named.map(async ({ id, weight }) => ({ weight, ...(await this.#voice(id)) })),
    ).catch((error: unknown) => {
      // Closing the model releases the graphs that a measurement uses.
      signal.throwIfAborted();
      throw error;
    });
    signal.throwIfAborted();
    return {
      baseline: heaviest(ready).baseline,
      parts: ready.flatMap(({ weight, parts }) => parts.map(({ table }) => ({ weight, table }))),
      statistics: {
        level: mean(ready, ({ statistics }) => statistics.level),
        slope: mean(ready, ({ statistics }) => statistics.slope),
        floor: mean(ready, ({ statistics }) => statistics.floor),
      },
    };
  }

  /** Concurrent callers share one read; a failure is forgotten. */
  #voice(id: string): Promise<ReadyVoice> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const ready = this.#read(id);
    this.#known.set(id, ready);
    ready.catch(() => this.#known.delete(id));
    return ready;
  }

  async #read(id: string): Promise<ReadyVoice> {
    const { folder, graphs } = this.#parts;
    const { signal } = new AbortController();
    if (!(await voicesIn(folder)).includes(id))
      throw new ConversationError(`this model has no voice “${id}”: GET /v1/audio/voices lists them`);
    const table = await readStyles(folder, id);
    const known = await readMeasuredVoice(folder, table, graphs.facts.statistics, signal);
    const { statistics: line, baseline: own } = known ?? (await measureVoice(this.#parts, table, signal));
    return { parts: [{ weight: 1, table }], statistics: line, baseline: own };
  }
}

/** Whether all voices have stored measurements. Throws the signal's reason. */
export async function areMeasured(
  folder: string,
  voices: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { facts } = await openConvertedGraphs(folder);
  for (const id of voices) {
    if ((await readMeasuredVoice(folder, { id }, facts.statistics, signal)) === null) return false;
  }
  return true;
}

/** Measures voices: 11 s of processor time each, and 1.3 GB, so run it in a process of its own if possible. */
export async function measureVoices(
  folder: string,
  voiceDir: string,
  voices: readonly string[],
): Promise<void> {
  const { signal } = new AbortController();
  const graphs = await openConvertedGraphs(folder);
  const network = await openKokoro(graphs);
  const reader = await openTextReader(voiceDir);
  const cast = new ReadyVoices({ folder, graphs, network, reader });
  try {
    for (const id of voices) await cast.cast([{ id, weight: 1 }], signal);
  } finally {
    await Promise.all([network.close(), reader.close()]);
  }
}
