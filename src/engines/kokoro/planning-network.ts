import type { PlanningNetwork } from "../prosody/plan.ts";
import type { KokoroNetwork } from "./network.ts";
import { type StylePart, styleOf } from "./voices.ts";

/**
 * Kokoro's network as a voice plans with it. The style depends on how many tokens a sentence has, so that what intones it
 * has to follow what has read it: one sentence at a time.
 */
export function planningWith(
  network: Pick<KokoroNetwork, "read" | "intone">,
  parts: readonly StylePart[],
): { readonly planning: PlanningNetwork; style(ids: readonly number[]): Float32Array } {
  // Without the silence at both ends.
  const style = (ids: readonly number[]) => styleOf(parts, ids.length - 2);
  let current = style([]);
  return {
    style,
    planning: {
      read(ids) {
        current = style(ids);
        return network.read(ids, current);
      },
      intone: (columns) => network.intone(columns, current),
    },
  };
}
