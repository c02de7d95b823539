import type { TransformerSizes } from "./transformer.ts";

/** The tensors that a model of some configuration has. */
export interface Manifest {
  /** By name. */
  readonly shapes: ReadonlyMap<string, readonly number[]>;
  /** Names of one tensor that is shared: any one of them will do, and of several the first is used. */
  readonly shared: readonly (readonly string[])[];
  /** Tensors that are passed over. */
  readonly isUnused: (name: string) => boolean;
}

/** Tensors of a transformer's layers and its last norm (`transformer.ts`). */
export function transformerShapes(stem: string, sizes: TransformerSizes): [string, readonly number[]][] {
  const { width, heads, keyHeads, headWidth, innerWidth } = sizes;
  const shapes: [string, readonly number[]][] = [[`${stem}.norm.weight`, [width]]];
  for (let at = 0; at < sizes.layers; at++) {
    const layer = `${stem}.layers.${at}`;
    shapes.push(
      [`${layer}.input_layernorm.weight`, [width]],
      [`${layer}.post_attention_layernorm.weight`, [width]],
      [`${layer}.self_attn.q_proj.weight`, [heads * headWidth, width]],
      [`${layer}.self_attn.k_proj.weight`, [keyHeads * headWidth, width]],
      [`${layer}.self_attn.v_proj.weight`, [keyHeads * headWidth, width]],
      [`${layer}.self_attn.o_proj.weight`, [width, heads * headWidth]],
      [`${layer}.mlp.gate_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.up_proj.weight`, [innerWidth, width]],
      [`${layer}.mlp.down_proj.weight`, [width, innerWidth]],
    );
    if (sizes.hasHeadNorms) {
      shapes.push([`${layer}.self_attn.q_norm.weight`, [headWidth]]);
      shapes.push([`${layer}.self_attn.k_norm.weight`, [headWidth]]);
    }
  }
  return shapes;
}
