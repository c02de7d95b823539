import { type Recogniser, RecogniserError } from "../../core/recogniser.ts";
import { DEFAULT_RECOGNISER, findRecogniser } from "../../models/checkpoint-manifest.ts";
import { DeferredRecogniser } from "../../recognition/deferred-recogniser.ts";
import { HELD_BYTES_PER_S } from "../../recognition/sound-wav.ts";
import type { Environment } from "../../settings/environment.ts";
import type { Settings } from "../../settings/schema.ts";
import { type Endpoint, endpointOf } from "../endpoint-settings.ts";
import type { RecogniserWeights } from "./recogniser-weights.ts";

export interface RecogniserSources {
  /** Makes a checkpoint's weights available. Called when they are needed, and again after a failure. */
  weights(checkpoint: string): Promise<RecogniserWeights>;
  readonly env: Environment;
  /** Maximum seconds of a recording for the embedded recogniser. Default: its own limit. */
  readonly maxS?: number;
  /** Its thread failed and is replaced. A sentence for the log. */
  readonly onFailure?: (message: string) => void;
  readonly onRecovery?: (message: string) => void;
}

/**
 * Returns the configured recogniser; `null` for none. Nothing is downloaded or loaded before {@link
 * DeferredRecogniser.prepare} or the first clip. The setting `recogniser.use` is for the caller.
 *
 * @throws SettingsError if a required setting is missing; SecretError if the key cannot be read
 */
export function composeRecogniser(
  { recogniser }: Pick<Settings, "recogniser">,
  sources: RecogniserSources,
): DeferredRecogniser | null {
  switch (recogniser.kind) {
    case "none":
      return null;
    case "embedded":
      return embedded(recogniser.checkpoint, sources);
    case "endpoint":
      return elsewhere(endpointOf("recogniser", recogniser, sources.env), recogniser.totalTimeoutMs);
  }
}

function embedded(
  wanted: string,
  { weights, maxS, onFailure, onRecovery }: RecogniserSources,
): DeferredRecogniser {
  const checkpoint = findRecogniser(wanted)?.name ?? wanted;
  const find = async (): Promise<string> => {
    const { dir, problem } = await weights(checkpoint);
    if (problem !== null) throw withoutWeights(checkpoint, new Error(problem));
    const { readDescription } = await import("../../recognition/whisper/description.ts");
    await readDescription(dir).catch((error: unknown) => {
      throw withoutWeights(checkpoint, error);
    });
    return dir;
  };
  const open = async (dir: string): Promise<Recogniser> => {
    const { openWhisper } = await import("../../recognition/whisper/open-whisper.ts");
    return await openWhisper(dir, {
      ...(maxS === undefined ? {} : { maxS }),
      ...(onFailure === undefined ? {} : { onFailure }),
      ...(onRecovery === undefined ? {} : { onRecovery }),
    }).catch((error: unknown) => {
      throw error instanceof RecogniserError ? error : withoutWeights(checkpoint, error);
    });
  };
  return new DeferredRecogniser(checkpoint, { find, open, memoryBytesPerS: 0 });
}

function withoutWeights(checkpoint: string, cause: unknown): RecogniserError {
  const name = checkpoint === DEFAULT_RECOGNISER ? "recogniser" : checkpoint;
  return new RecogniserError(
    `The recogniser's weights are missing or damaged. Run antiphon models pull ${name}.`,
    { cause },
  );
}

function elsewhere(endpoint: Endpoint, totalTimeoutMs: number): DeferredRecogniser {
  return new DeferredRecogniser(endpoint.model, {
    find: () => import("../../recognition/endpoint-recogniser.ts"),
    open: async ({ openEndpointRecogniser }) => openEndpointRecogniser({ ...endpoint, totalTimeoutMs }),
    memoryBytesPerS: HELD_BYTES_PER_S,
  });
}
