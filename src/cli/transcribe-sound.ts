import type { AudioSource } from "../core/audio-source.ts";
import { type RecogniseOptions, RecogniserError, type Transcript } from "../core/recogniser.ts";
import { messageWithCauses } from "../server/errors.ts";
import { composeRecogniser } from "../server/recogniser/compose-recogniser.ts";
import { recogniserWeights } from "../server/recogniser/recogniser-weights.ts";
import type { Settings } from "../settings/schema.ts";
import type { CommandIo } from "./terminal/command-io.ts";
import { transcriptionProgress } from "./terminal/progress.ts";

/**
 * Transcribes a sound to its end with the recogniser of the settings, and shows the progress of a long one. Fetches nothing.
 *
 * @throws Error in plain sentences; the signal's reason
 */
export async function transcribeSound(
  sound: AudioSource,
  asked: Pick<RecogniseOptions, "task" | "language" | "wantsWords">,
  settings: Settings,
  { env, stderr }: CommandIo,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly transcript: Transcript }> {
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
  const progress = await transcriptionProgress(sound.boundS, stderr);
  try {
    const onPartial = ({ transcribedS }: Transcript): void => progress.onProgress(transcribedS);
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
