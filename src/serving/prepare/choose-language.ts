import { fieldError, quoted, ServiceError } from "../../contract/errors.ts";
import { languageCodeFrom, languageName } from "../../core/languages.ts";
import { type ModelVoice, voiceIdOf } from "../../core/model-card.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { chooseVoice, findModelVoice, type ModelVoices, type VoiceChoice } from "./choose-voice.ts";

/** What a request's `language` leaves of a model. */
export interface LanguageChoice<C> {
  /** The card with the voices that speak the language, among them those of its labels and of OpenAI's names. */
  readonly card: C;
  /** Tag of the labels' language; absent if the model's usual voices speak it. */
  readonly language?: string;
}

/**
 * Finds the voices that speak a language. A model that does not say what its voices speak is given the language as it is.
 *
 * @param asked a tag such as `es` or `es-MX`, or an English name
 * @throws a 400 `ServiceError` that lists the languages
 */
export function chooseLanguage<C extends ModelVoices>(
  asked: string | null | undefined,
  card: C,
  field = "language",
): LanguageChoice<C> {
  if (asked === undefined || asked === null || asked.trim() === "" || AUTO.test(asked)) return { card };
  const spoken = [...new Set(card.voices.flatMap(({ language }) => language ?? []))];
  const code = languageCodeFrom(asked);
  if (code === null)
    throw fieldError(
      field,
      `${quoted(asked)} is unknown: send a language tag, such as ${spoken.join(", ") || "en"}`,
    );
  const wanted = asked.trim().toLowerCase().replaceAll("_", "-");
  if (card.voices.some(({ language }) => language === null))
    return { card, language: wanted.includes("-") ? wanted : code };
  const tags = [wanted, code]
    .map((range) => spoken.filter((tag) => isWithin(tag, range)))
    .find(({ length }) => length > 0);
  if (tags === undefined)
    throw fieldError(
      field,
      `${quoted(asked)} is not spoken by the model ${card.id}: ask for one of ${spoken.map((tag) => `${tag} (${languageTitle(tag)})`).join(", ")}`,
    );
  const speaks = ({ language }: ModelVoice) => tags.includes(language ?? "");
  const voices = card.voices.filter(speaks);
  const others = card.voices.filter((voice) => !speaks(voice));
  const usual = card.speakers.map((label) => voiceIdOf(label, card));
  if (usual.every((id) => voices.some((voice) => voice.id === id)))
    return { card: { ...card, voices, others } };
  const language = tags.find((tag) => card.languageLabels?.[tag] !== undefined) ?? tags[0]!;
  const labels = card.languageLabels?.[language] ?? {};
  return {
    language,
    card: { ...card, voices: withAliases(voices, others, Object.values(labels)), labels, others },
  };
}

/** Value of `language` that asks for the text's own. */
export const AUTO = /^\s*auto\s*$/i;

/** Returns the language of a text, if it is clear and `voice` speaks it; else `undefined`. */
export function textLanguage(text: string, voice: string, card: ModelVoices): string | undefined {
  const code = detectLanguage(text);
  return code === null ? undefined : telephoneLanguage(code, voice, card);
}

/**
 * Returns a language that a telephone platform sent, if `voice` speaks it; else `undefined`. Platforms send one with every
 * text, chosen or not: what is not spoken is ignored, and English is what the usual voices speak.
 */
export function telephoneLanguage(
  asked: string | undefined,
  voice: string,
  card: ModelVoices,
): string | undefined {
  if (asked === undefined || isWithin(asked.replaceAll("_", "-"), "en")) return undefined;
  try {
    chooseVoice(voice, "voice", chooseLanguage(asked, card).card);
    return asked;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Whether a tag is a range or within it: `en-GB` is within `en`. Ignores case. */
export function isWithin(tag: string, range: string): boolean {
  const [a, b] = [tag.toLowerCase(), range.toLowerCase()];
  return a === b || a.startsWith(`${b}-`);
}

/** Gives OpenAI's names of other voices to the people of the labels, by sex. */
function withAliases(
  voices: readonly ModelVoice[],
  others: readonly ModelVoice[],
  people: readonly string[],
): readonly ModelVoice[] {
  const heir = ({ sex }: ModelVoice) =>
    people.find((id) => voices.some((voice) => voice.id === id && voice.sex === sex)) ?? people[0];
  return voices.map((voice) => ({
    ...voice,
    aliases: [
      ...voice.aliases,
      ...others.filter((each) => heir(each) === voice.id).flatMap(({ aliases }) => aliases),
    ],
  }));
}

/** Returns the English name of a tag's language. */
export function languageTitle(tag: string): string {
  const name = languageName(tag.split("-")[0]!);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** Returns a person who speaks a language, of the given sex if there is one; `null` if the model has none. */
export function voiceOfLanguage(asked: string, sex: ModelVoice["sex"], all: ModelVoices): ModelVoice | null {
  try {
    const { card } = chooseLanguage(asked, all);
    const labelled = card.speakers.flatMap((label) => findModelVoice(label, card) ?? []);
    return [...labelled, ...card.voices].find((each) => each.sex === (sex ?? each.sex)) ?? card.voices[0]!;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Returns who speaks: the heaviest voice that is chosen, or else the label's. */
export function spokenVoice(
  { voice = [], speaker }: VoiceChoice,
  label: string,
  card: ModelVoices,
): ModelVoice | null {
  const [heaviest] = voice
    .flatMap((part) => ("id" in part ? [part] : []))
    .toSorted((a, b) => b.weight - a.weight);
  const id = heaviest?.id ?? voiceIdOf(speaker ?? label, card);
  return card.voices.find((each) => each.id === id) ?? null;
}
