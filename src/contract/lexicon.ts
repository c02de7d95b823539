import Type from "typebox";

/** Maximum number of entries in a request's lexicon, and maximum lengths of a word and of its pronunciation. */
const MAX_LEXICON_WORDS = 100;
export const MAX_LEXICON_WORD_CHARS = 64;
export const MAX_LEXICON_SAID_CHARS = 200;

/** The field `lexicon` of requests that generate speech: an extension, whose keys are words of the client's choice. */
export const Lexicon = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string", minLength: 1, maxLength: MAX_LEXICON_SAID_CHARS },
  propertyNames: { minLength: 1, maxLength: MAX_LEXICON_WORD_CHARS },
  maxProperties: MAX_LEXICON_WORDS,
  description:
    "Extension: pronunciations for this request. Each word (in lower case, it matches any case) is mapped either to " +
    "words that are read instead, or to its phonemes between slashes, in the IPA of American English: " +
    '`{"SQL": "sequel", "kubernetes": "/kˌubɚnˈɛtiz/"}`. In any text, `[word](/phonemes/)` does the same for one occurrence.',
});
