import type { AudioSource } from "../../core/audio-source.ts";
import { type RecogniseOptions, RecogniserError, type Transcript } from "../../core/recogniser.ts";
import { messageWithCauses } from "../../server/message-with-causes.ts";
import { composeRecogniser } from "../../server/recogniser/compose-recogniser.ts";
import { recogniserWeights } from "../../server/recogniser/recogniser-weights.ts";
import type { Settings } from "../../settings/schema.ts";
import type { CommandIo } from "./command-io.ts";
import { hearingProgress } from "./hearing-progress.ts";

/** What was heard, and by whom. */
export interface HeardRecording {
  /** The recogniser. */
  readonly name: string;
  readonly transcript: Transcript;
}

/**
 * Hears a sound, all of it, with the recogniser of the settings, and shows how far it is where that takes long. Fetches
 * nothing.
 *
 * @throws Error in plain sentences; the signal's reason.
 */
export async function hear(
  sound: AudioSource,
  asked: Pick<RecogniseOptions, "task" | "language" | "wantsWords">,
  settings: Settings,
  { env, stderr }: CommandIo,
  signal: AbortSignal,
): Promise<HeardRecording> {
  const { dataDir } = settings;
  let problem: string | null = null;
  const recogniser = composeRecogniser(settings, {
    async weights(checkpoint) {
      const options = { dataDir, checkpoint, pull: false, signal, observe: () => {} };
      const weights = await recogniserWeights(options);
      problem = weights.problem;
      return weights;
    },
    env,
    maxS: Number.POSITIVE_INFINITY,
  });
  if (recogniser === null)
    throw new Error(
      "The setting recogniser.kind is none, so nothing can be transcribed: set it to embedded or endpoint.",
    );
  const progress = await hearingProgress(sound.boundS, stderr);
  try {
    const onPartial = ({ transcribedS: heardS }: Transcript): void => progress.onProgress(heardS);
    const options = { ...asked, prompt: null, draft: null, onPartial };
    const transcript = await recogniser.recognise(sound, options, signal);
    return { name: recogniser.name, transcript };
  } catch (error) {
    signal.throwIfAborted();
    if (problem !== null) throw new Error(problem, { cause: error });
    throw error instanceof RecogniserError ? new Error(messageWithCauses(error), { cause: error }) : error;
  } finally {
    progress.close();
    await recogniser.close();
  }
}
