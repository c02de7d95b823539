import {
  KOKORO_LANGUAGE_LABELS,
  KOKORO_SPEAKER_VOICES,
  KOKORO_VOICE_SUPPORT,
  KOKORO_VOICES,
} from "../../src/models/kokoro-voices.ts";
import { PUBLIC_MODELS, type PublicModel } from "../../src/models/public-models.ts";

const [usual] = PUBLIC_MODELS;

/** The default model with Kokoro's voices, some of which speak Spanish and Italian. */
export const KOKORO_MODEL: PublicModel = {
  ...usual!,
  card: {
    ...usual!.card,
    voices: KOKORO_VOICES,
    labels: KOKORO_SPEAKER_VOICES,
    languageLabels: KOKORO_LANGUAGE_LABELS,
    takes: KOKORO_VOICE_SUPPORT,
  },
};
