import type { LlamaModel, LlamaRuntime, Token, TokenBias } from "./llama-runtime.ts";

/** Markup, addresses and line ends. */
const UNSPEAKABLE = /[*#_`[\]{}<>|\\~^=@\n]|https?|www\./i;
/** Pictures, arrows, boxes and the like: what is no letter, mark, number, space or plain punctuation. */
const PICTURES = /[^\p{L}\p{M}\p{N}\p{Zs}\p{P}\p{Sc}+\ufffd]/u;
/** What begins and ends a thought, which is taken out: a model that could not end one would never speak. */
const THOUGHT = /^<\/?(think|thinking|reasoning)>$/i;
/** What a model may not write. */
export interface TokenBiases {
  /** Nothing but what can be said. */
  readonly words: TokenBias;
  /** That, and the tag that begins a call. */
  readonly wordsOrCall: TokenBias;
  /** Anything. */
  readonly call: TokenBias;
}

/**
 * Keeps a model from writing what cannot be said: markup, addresses, line ends, pictures.
 *
 * @param callBegin the tag that begins a call of a function; `null` where the model makes none
 */
export function unspeakableTokens(
  model: LlamaModel,
  { module }: LlamaRuntime,
  callBegin: Token | null,
): TokenBiases {
  const none = () => new module.TokenBias(model.tokenizer);
  const biases = { words: none(), wordsOrCall: none(), call: none() };
  for (const token of model.iterateAllTokens()) {
    if (model.isSpecialToken(token) || model.isEogToken(token)) continue;
    const text = model.detokenize([token]);
    if (THOUGHT.test(text)) continue;
    if (!UNSPEAKABLE.test(text) && !PICTURES.test(text)) continue;
    biases.words.set(token, "never");
    if (callBegin !== null && token !== callBegin) biases.wordsOrCall.set(token, "never");
  }
  if (callBegin !== null) biases.words.set(callBegin, "never");
  return biases;
}
