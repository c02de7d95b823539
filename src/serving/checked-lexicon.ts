import { ServiceError } from "../contract/errors.ts";
import { lexiconField } from "../contract/validate.ts";
import type { Lexicon } from "../model/script.ts";
import { faultOf } from "../text/own-words.ts";

/** What to do about phonemes that are refused. */
export const PHONEMES_REMEDY = "write phonemes in the IPA of American English, as in /kˌubɚnˈɛtiz/";

/** The words of a request's field `lexicon`. Throws a 400 {@link ServiceError} that names the word and what is wrong. */
export function checkedLexicon(lexicon: Readonly<Record<string, string>> = {}): Lexicon {
  const words = Object.entries(lexicon);
  for (const word of words) {
    const fault = faultOf(word);
    if (fault === null) continue;
    const field = lexiconField(word[0]);
    if (fault.of === "word") throw new ServiceError(400, `${field}: the word ${fault.why}`);
    const remedy = word[1].startsWith("/") ? `: ${PHONEMES_REMEDY}` : "";
    throw new ServiceError(400, `${field}: what is said ${fault.why}${remedy}`);
  }
  return words;
}
