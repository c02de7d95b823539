import type { LlamaModel, LlamaRuntime, TokenBias } from "./llama-runtime.ts";

/** Markup, addresses and line ends. */
const UNSPEAKABLE = /[*#_`[\]{}<>|\\~^=@\n]|https?|www\./i;
/** Pictures, arrows, boxes and the like: what is no letter, mark, number, space or plain punctuation. */
const PICTURES = /[^\p{L}\p{M}\p{N}\p{Zs}\p{P}\p{Sc}+\ufffd]/u;
/** What begins and ends a thought, which is taken out: a model that could not end one would never speak. */
const THOUGHT = /^<\/?(think|thinking|reasoning)>$/i;
/** A token that is part of a character. */
const FRAGMENT = /\ufffd/;

/**
 * Keeps a model from writing what cannot be said: markup, addresses, line ends, pictures. Without `characterBytes` it
 * cannot put characters together from their bytes either: an English one has all it needs as whole tokens.
 */
export function unspeakableTokens(
  model: LlamaModel,
  { module }: LlamaRuntime,
  { characterBytes }: { readonly characterBytes: boolean },
): TokenBias {
  const bias = new module.TokenBias(model.tokenizer);
  for (const token of model.iterateAllTokens()) {
    if (model.isSpecialToken(token) || model.isEogToken(token)) continue;
    const text = model.detokenize([token]);
    if (THOUGHT.test(text)) continue;
    const isCut = !characterBytes && FRAGMENT.test(text);
    if (isCut || UNSPEAKABLE.test(text) || PICTURES.test(text)) bias.set(token, "never");
  }
  return bias;
}
