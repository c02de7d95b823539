import type * as wire from "../../contract/replies.ts";
import type { ModelCard } from "../../core/model-card.ts";

/** Date when these models were first offered: 21 November 2026, in Unix time. OpenAI's clients need such a number. */
const CREATED_S = 1_795_219_200;

/** Formats a public model for `GET /v1/models`. */
export function wireCard(card: ModelCard): wire.ModelEntry {
  return {
    id: card.id,
    display_name: card.displayName,
    modes: [...card.modes],
    speakers: [...card.speakers],
    default: card.isDefault,
    description: card.description,
    object: "model",
    created: CREATED_S,
    owned_by: "antiphon",
  };
}
