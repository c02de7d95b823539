import Type from "typebox";

/** Words that one request may say how to say, at most, and how long each and what is said for it may be. */
const MAX_LEXICON_WORDS = 100;
export const MAX_LEXICON_WORD_CHARS = 64;
export const MAX_LEXICON_SAID_CHARS = 200;

/** The field `lexicon` of requests that generate speech: an extension, its members' names are the client's own words. */
export const Lexicon = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string", minLength: 1, maxLength: MAX_LEXICON_SAID_CHARS },
  propertyNames: { minLength: 1, maxLength: MAX_LEXICON_WORD_CHARS },
  maxProperties: MAX_LEXICON_WORDS,
  description:
    "Extension: how words are said in this request. A word (in small letters it is meant in any case) and either " +
    "words that are read in its place, or its phonemes between slashes, in the IPA of American English: " +
    '`{"SQL": "sequel", "kubernetes": "/kˌubɚnˈɛtiz/"}`. In any text `[word](/phonemes/)` says the same for one place.',
});
