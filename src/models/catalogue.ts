import type { ModelCard } from "../core/model-card.ts";
import type { Preset, UnusedKnobs } from "../core/script.ts";
import type { SpeechModel } from "../core/speech-model.ts";
import { type CachedCheckpoint, CheckpointCache, type LoadableCheckpoint } from "./checkpoint-cache.ts";
import type { PublicModel } from "./public-models.ts";

export interface CatalogueOptions {
  /** What is offered, in the order it is listed; exactly one is the default. */
  readonly models: readonly PublicModel[];
  /** What can be loaded: at least every checkpoint that a model names. */
  readonly checkpoints: readonly LoadableCheckpoint[];
  /**
   * Memory that loaded checkpoints may take together, in bytes. `null` is {@link MIN_BUDGET_BYTES}, and more where
   * that has no room for some model beside those that stay loaded.
   */
  readonly memoryBudgetBytes: number | null;
}

/** What loaded checkpoints may take together where nobody says: 4 GiB. */
const MIN_BUDGET_BYTES = 4096 * 2 ** 20;

/** A model for the time of one utterance. */
export interface Lease {
  readonly model: SpeechModel;
  readonly preset: Preset;
  readonly card: ModelCard;
  /** How long it was waited for until it was loaded, in milliseconds; `null` or absent where it was already. */
  readonly loadMs?: number | null;
  /** Lets the model go; calling it twice is harmless. */
  release(): void;
}

/** Public ids on one side, loaded models on the other. */
export interface Catalogue {
  cards(): ModelCard[];
  /** The knobs that do nothing, by the id of the model. */
  unusedKnobs(): Readonly<Record<string, UnusedKnobs>>;
  /**
   * The model, loaded, and kept so until released. Waits for loading and for room in memory. Throws the signal's reason
   * when it aborts, and `SpeechFailedError` when the checkpoint cannot be loaded; the next lease tries again.
   */
  lease(model: PublicModel, signal: AbortSignal): Promise<Lease>;
  /** Loads the models that stay loaded. Throws when one cannot be. */
  warm(): Promise<void>;
  /** What is in memory now. */
  resident(): CachedCheckpoint[];
  /** Unloads everything; what is being spoken fails. Calling it twice is harmless. */
  close(): Promise<void>;
}

/**
 * Models that share a checkpoint share one instance of it. Throws when a model names a checkpoint that is not there, and
 * when one could never be loaded within the budget, beside those that stay loaded.
 */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const { models, checkpoints } = options;
  const byName = new Map(checkpoints.map((checkpoint) => [checkpoint.name, checkpoint]));
  const pinned = new Set(models.filter(({ isResident }) => isResident).map(checkpointOf));
  const pinnedBytes = [...pinned].reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  const memoryBudgetBytes =
    options.memoryBudgetBytes ?? Math.max(MIN_BUDGET_BYTES, ...models.map(requiredBytes));
  for (const model of models) requireFits(model);
  const cache = new CheckpointCache(memoryBudgetBytes, new Set([...pinned].map(({ name }) => name)));

  function checkpointOf(model: PublicModel): LoadableCheckpoint {
    const checkpoint = byName.get(model.checkpoint);
    if (checkpoint !== undefined) return checkpoint;
    const known = [...byName.keys()].join(", ");
    throw new Error(
      `the model ${model.card.id} names the checkpoint ${model.checkpoint}; there are: ${known}`,
    );
  }

  /** With that model, and with all that stays loaded. */
  function requiredBytes(model: PublicModel): number {
    const checkpoint = checkpointOf(model);
    return pinnedBytes + (pinned.has(checkpoint) ? 0 : checkpoint.memoryBytes);
  }

  function requireFits(model: PublicModel): void {
    const neededBytes = requiredBytes(model);
    if (neededBytes <= memoryBudgetBytes) return;
    throw new Error(
      `the model ${model.card.id} needs ${toMib(neededBytes)} MiB together with the models that stay loaded, more than ` +
        `the ${toMib(memoryBudgetBytes)} MiB of memoryBudgetMb: raise memoryBudgetMb, or set it to 0 for what is needed`,
    );
  }

  return {
    cards: () => models.map(({ card }) => card),
    unusedKnobs: () =>
      Object.fromEntries(
        models.map((model) => [model.card.id, checkpointOf(model).unusedKnobs?.(model.preset) ?? {}]),
      ),
    async lease(model, signal) {
      const { model: speech, loadMs, release } = await cache.acquire(checkpointOf(model), signal);
      return { model: speech, preset: model.preset, card: model.card, loadMs, release };
    },
    async warm() {
      // Each has a signal of its own: of more than ten listeners to one Node warns.
      const never = () => new AbortController().signal;
      const holds = await Promise.all([...pinned].map((checkpoint) => cache.acquire(checkpoint, never())));
      for (const hold of holds) hold.release();
    },
    resident: () => cache.list(),
    close: () => cache.close(),
  };
}

function toMib(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
