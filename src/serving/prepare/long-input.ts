import { fieldError, quoted } from "../../contract/errors.ts";
import { MAX_SPEECH_CHARS, MAX_TEXT_CHARS } from "../../contract/limits.ts";
import type { TtsRequest } from "../../contract/requests.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import { looksLikeSsml } from "../../text/ssml/parse-markup.ts";
import { type SsmlPassage, splitSsml } from "../../text/ssml/split-ssml.ts";

/** A text that is spoken passage by passage. */
export interface LongInput {
  /** Name of the text in messages. */
  readonly field: string;
  /** Its passages, if it is SSML. */
  readonly ssml: readonly SsmlPassage[] | null;
}

/**
 * Splits a text that is too long for one utterance, if its field may be as long. Throws a 400 {@link ServiceError} for
 * an element that cannot be split.
 *
 * @param chars of the text as spoken
 */
export function longInputOf(
  { text = "", input_type: inputType }: Pick<TtsRequest, "input_type"> & { readonly text?: string },
  chars: number,
  { text: field, maxChars = MAX_TEXT_CHARS }: { readonly text: string; readonly maxChars?: number },
): { readonly longInput?: LongInput } {
  const isLong = text.length > MAX_TEXT_CHARS && chars > MAX_SPEECH_CHARS;
  if (!isLong || maxChars <= MAX_TEXT_CHARS) return {};
  const isSsml = inputType === "ssml" || (inputType === undefined && looksLikeSsml(text));
  const ssml = isSsml ? splitSsml(text) : null;
  const place = longElementIn(ssml ?? []);
  if (place === null) return { longInput: { field, ssml } };
  throw fieldError(field, `has an element near ${place} that is spoken as one and too long: divide it`);
}

/** Quotes the beginning of the first element that could not be divided into utterances; `null` if there is none. */
export function longElementIn(passages: readonly Passage[]): string | null {
  const long = passages.find(({ text }) => text.length > MAX_TEXT_CHARS);
  return long === undefined ? null : quoted(long.text.slice(long.text.indexOf(">") + 1));
}
