import { parseTtsRequest } from "../src/contract/validate.ts";
import type { Clip } from "../src/core/conversation.ts";
import type { Script } from "../src/core/script.ts";
import { PUBLIC_MODELS, SPEAKERS } from "../src/models/public-models.ts";
import { buildScript } from "../src/serving/prepare/build-script.ts";
import { resolveTts } from "../src/serving/prepare/resolve-request.ts";

/**
 * What the engine gets for `POST /v1/tts` at temperature 0, to the default model.
 *
 * @param who a label, or the id of another of the embedded voice's people
 */
export function plainScript(text: string, who: string): Script {
  const asked = SPEAKERS.includes(who) ? { speaker: who } : { voice: who };
  const request = parseTtsRequest({ text, ...asked, params: { temperature: 0 } });
  const prepared = resolveTts(request, () => PUBLIC_MODELS.find(({ card }) => card.isDefault));
  return buildScript(prepared, prepared.model.preset);
}

/** The same after one turn of speaker `0` that can be heard, whose words `said` are known or not. */
export function followingScript(text: string, clip: Clip, said: string | null = null): Script {
  return { ...plainScript(text, "0"), history: [{ speaker: "0", text: said, audio: clip }] };
}
