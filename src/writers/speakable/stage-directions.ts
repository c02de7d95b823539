/**
 * Returns whether a marked phrase can only be a stage direction: a sentence of its own that names a sound or a gesture in
 * the third person or the -ing form ("laughs softly", "clears throat"), or a script's cue ("pause", "SFX: door"). Everything
 * else is spoken: a direction that is spoken does no harm, a lost word does.
 */
export function isStageDirection(phrase: string, before: string, after: string): boolean {
  if (!SENTENCE_END.test(before.trimEnd()) || CONTINUED.test(after)) return false;
  if (CAPITAL_ING.test(phrase)) return false;
  return GESTURE.test(phrase) || BODY.test(phrase) || CUE.test(phrase);
}

/** Not the number of a list's item. */
const SENTENCE_END = /^$|[^\d\s.][.!?…]+["'”’)]*$/;
const CONTINUED = /^[\s*_]*[\p{Ll},;:—–-]/u;
/** A noun, or the beginning of a sentence: "*Smiling*". */
const CAPITAL_ING = /^\p{Lu}\p{Ll}*ing\b/u;
const GESTURE =
  /^(?:laugh|chuckl|giggl|sigh|gasp|groan|sniff|yawn|cough|smil|grin|smirk|nod|shrug|wink|blush|frown|whisper|paus)(?:e?s|[dgn]?ing)(?: (?:\w+ly|again))?$/i;
const BODY =
  /^(?:(?:clear|roll|raise|tilt|shake)s (?:(?:his|her|their|my|an|the) )?(?:throat|eyes|eyebrow|head)|takes a deep breath|looks (?:away|down|around)(?: \w+ly)?)$/i;
const CUE = /^(?:(?:long )?pause|laughter|applause|(?:sfx|vfx|bgm|sound): \D{1,40})$/i;
