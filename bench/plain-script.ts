import { PUBLIC_MODELS } from "../src/catalogue/public-models.ts";
import { parseTtsRequest } from "../src/contract/validate.ts";
import type { Clip } from "../src/model/conversation.ts";
import type { Script } from "../src/model/script.ts";
import { prepareTts } from "../src/serving/prepare.ts";
import { scriptOf } from "../src/serving/script-of.ts";

/** What the engine gets for `POST /v1/tts` at temperature 0, to the default model. */
export function plainScript(text: string, speaker: string): Script {
  const request = parseTtsRequest({ text, speaker, params: { temperature: 0 } });
  const prepared = prepareTts(request, () => PUBLIC_MODELS.find(({ card }) => card.isDefault));
  return scriptOf(prepared, prepared.model.preset);
}

/** The same after one turn of speaker `0` that can be heard, whose words `said` are known or not. */
export function followingScript(text: string, clip: Clip, said: string | null = null): Script {
  return { ...plainScript(text, "0"), history: [{ speaker: "0", text: said, audio: clip }] };
}
