import type { LlamaModel } from "./llama-runtime.ts";

/** What node-llama-cpp 3.21 keeps for its estimates. None of it is promised: what is not there is not let go of. */
interface Estimates {
  readonly _simulationSession?: { dispose?(): Promise<void> };
  readonly _addonMetadata?: { dispose?(): void };
}

/**
 * Lets go of what node-llama-cpp would keep beside a model for as long as the model is there. To estimate what a context
 * will take it loads the model once more, without its weights and with its vocabulary, which of a small model is the
 * larger part. Once this was called, its plain formula is used for that. To be called before a context is made.
 */
export async function forgetEstimates({ fileInsights }: LlamaModel): Promise<void> {
  const { _simulationSession, _addonMetadata } = fileInsights as unknown as Estimates;
  await _simulationSession?.dispose?.();
  _addonMetadata?.dispose?.();
}

/**
 * Empties the lists of tokens that node-llama-cpp read out of the file beside llama.cpp's own. To be called once there is
 * a context, and what needs `iterateAllTokens` has been made.
 */
export function forgetVocabulary({ fileInfo }: LlamaModel): void {
  const lists: Partial<Record<string, unknown>> = fileInfo.metadata.tokenizer?.ggml ?? {};
  for (const name of ["tokens", "merges", "token_type", "scores"]) {
    const list = lists[name];
    if (Array.isArray(list)) list.length = 0;
  }
}
