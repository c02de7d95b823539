import { ServiceError } from "../contract/errors.ts";
import { lexiconField } from "../contract/validate.ts";
import type { Lexicon } from "../model/script.ts";
import { faultOf } from "../text/own-words.ts";

/** The words of a request's field `lexicon`. Throws a 400 {@link ServiceError} that names the word and what is wrong. */
export function checkedLexicon(lexicon: Readonly<Record<string, string>> = {}): Lexicon {
  const words = Object.entries(lexicon);
  for (const word of words) {
    const fault = faultOf(word);
    if (fault !== null)
      throw new ServiceError(400, `${lexiconField(word[0])}: ${fault}`, { param: "lexicon" });
  }
  return words;
}
