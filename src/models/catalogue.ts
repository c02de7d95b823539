import type { ModelCard } from "../core/model-card.ts";
import type { Preset, UnusedKnobs } from "../core/script.ts";
import type { SpeechModel } from "../core/speech-model.ts";
import { type CachedCheckpoint, CheckpointCache, type LoadableCheckpoint } from "./checkpoint-cache.ts";
import type { PublicModel } from "./public-models.ts";

interface CatalogueOptions {
  /** Models in the order they are listed; exactly one is the default. */
  readonly models: readonly PublicModel[];
  /** Checkpoints that can be loaded, among them all that `models` name. */
  readonly checkpoints: readonly LoadableCheckpoint[];
  /**
   * Maximum bytes of all loaded checkpoints together. `null`: {@link MIN_BUDGET_BYTES}, or more if a model needs it
   * alongside the resident ones.
   */
  readonly memoryBudgetBytes: number | null;
}

const MIN_BUDGET_BYTES = 4096 * 2 ** 20;

/** A loaded model, reserved for one utterance. */
export interface Lease {
  readonly model: SpeechModel;
  readonly preset: Preset;
  readonly card: ModelCard;
  /** Milliseconds spent waiting for the model to load; `null` or absent if it was loaded. */
  readonly loadMs?: number | null;
  /** May be called twice. */
  release(): void;
}

/** Maps public models to checkpoints, and lends the loaded ones out. */
export interface Catalogue {
  cards(): ModelCard[];
  /** Knobs without effect, by model id. */
  unusedKnobs(): Readonly<Record<string, UnusedKnobs>>;
  /**
   * Loads the model and keeps it loaded until released. Waits for loading and for memory. Throws the signal's reason,
   * and `SpeechFailedError` if the checkpoint cannot be loaded; the next lease tries again.
   */
  lease(model: PublicModel, signal: AbortSignal): Promise<Lease>;
  /** Loads the resident models. Throws if one cannot be loaded. */
  warm(): Promise<void>;
  resident(): CachedCheckpoint[];
  /** Unloads everything; utterances in progress fail. May be called twice. */
  close(): Promise<void>;
}

/**
 * Creates a catalogue in which models share one instance per checkpoint. Throws if a model names an unknown
 * checkpoint or never fits into the budget next to the resident ones.
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

  /** Returns the memory for this model and all resident ones. */
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
      // Each needs its own signal: Node warns about more than ten listeners on one.
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
