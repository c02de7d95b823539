import type * as wire from "../contract/replies.ts";
import type { ModelCard } from "../model/model-card.ts";

/** A public model as `GET /v1/models` lists it. */
export function wireCard(card: ModelCard): wire.ModelCard {
  return {
    id: card.id,
    display_name: card.displayName,
    modes: [...card.modes],
    speakers: [...card.speakers],
    default: card.isDefault,
    description: card.description,
  };
}
