import type { Settings } from "../settings/schema.ts";
import { SPOKEN_PROMPT } from "../writers/dialogue-messages.ts";

/** How to speak, as the operator or the model's entry says it or as we do, and after it what the operator asks of every reply. */
export function systemPromptOf(
  { systemPrompt, instructions }: Settings["writer"],
  spoken: string = SPOKEN_PROMPT,
): string {
  const manner = systemPrompt ?? spoken;
  return instructions === undefined ? manner : `${manner}\n\n${instructions}`;
}
