import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { createParametricModel } from "../../../src/engines/embedded/model.ts";
import { EMBEDDED_LANGUAGE_LABELS as languageLabels } from "../../../src/models/public-models.ts";
import { tables, VOICE_DIR } from "./voice.ts";

/** Opens the voice in the repository. The caller closes it. */
export async function openVoice(): Promise<SpeechModel> {
  return await createParametricModel({ voiceDir: VOICE_DIR, tables: await tables(), languageLabels });
}
