import { ServiceError } from "../../contract/errors.ts";
import type { InputType } from "../../contract/requests.ts";
import { languageCodeFrom } from "../../core/languages.ts";
import { type MarkedText, pausesS, spokenText, type TextPiece } from "../../core/marked-text.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import type { Lexicon } from "../../core/script.ts";
import { detectOtherLanguage } from "../../text/detect-language.ts";
import { accentOfTag } from "../../text/languages/languages.ts";
import { inlineFault } from "../../text/phonemes/given-phonemes.ts";
import { addedCharacters } from "../../text/phonemes/given-words.ts";
import {
  ENGLISH_VOICES,
  type FindVoice,
  MarkupError,
  type ParsedMarkup,
  type VoiceLanguages,
} from "../../text/ssml/markup.ts";
import { parseMarkup } from "../../text/ssml/parse-markup.ts";
import { isWithin, languageTitle, spokenVoice, voiceOfLanguage } from "./choose-language.ts";
import { chooseVoice, listOf, type ModelVoices, type VoiceChoice } from "./choose-voice.ts";

/** What is known of the voice that speaks a text. */
export type OwnVoice = Pick<ModelVoice, "language"> & Partial<Pick<ModelVoice, "sex">>;

/** Text whose marks have been read. */
export interface ParsedText {
  readonly piece: TextPiece;
  /** Billed code points: per word, the longer of written and spoken form. Marks are free. */
  readonly chars: number;
  /** Code points without marks. */
  readonly unmarkedChars: number;
  /** Requests of the markup that are not followed, in a few words each. */
  readonly cautions: readonly string[];
  /** Voices that the text names for parts of itself, by those names. */
  readonly voices: Readonly<Record<string, VoiceChoice>>;
}

/**
 * Reads the marks of a text to speak: SSML, pauses, voices, phonemes. Throws a 400 {@link ServiceError} that names the field,
 * and the place if there is one.
 *
 * @param field name of the text in messages
 * @param cast voices of the model; `null` if it is not known
 * @param own its voice, as far as it is known. Default: speaks English
 */
export function readMarkup(
  text: string,
  field: string,
  cast: ModelVoices | null,
  inputType?: InputType,
  lexicon: Lexicon = [],
  own: OwnVoice = { language: null },
): ParsedText {
  const isSsml = inputType === undefined ? null : inputType === "ssml";
  const voices = new Map<string, VoiceChoice>();
  const findVoice = cast === null ? noVoice : voicesOf(cast, field, voices);
  const languages = cast === null ? ENGLISH_VOICES : languagesOf(cast, own, voices);
  const { piece, spokenChars, cautions, spoken } = readOrRefuse(text, field, isSsml, findVoice, languages);
  const left =
    cast === null
      ? []
      : [...notDone(piece, cast), ...notInLanguage(ownWords(piece), own.language ?? "en", cast)];
  // Voices that a model does not follow are not looked up.
  const isFollowed = cast?.takes.marks === true;
  return {
    piece,
    unmarkedChars: spokenChars,
    chars: spokenChars + addedCharacters(spoken, lexicon, accentOfTag(own.language)),
    cautions: [...cautions, ...left],
    voices: isFollowed ? Object.fromEntries(voices) : {},
  };
}

/** Returns the words of a text without its marks. Throws as {@link readMarkup}; a voice may have any name. */
export function spokenWords(text: string, field: string): string {
  return readOrRefuse(text, field, null, anyVoice).spoken;
}

function readOrRefuse(
  text: string,
  field: string,
  isSsml: boolean | null,
  findVoice: FindVoice,
  languages: VoiceLanguages = ENGLISH_VOICES,
): ParsedMarkup & { readonly spoken: string } {
  try {
    const read = parseMarkup(text, isSsml, findVoice, languages);
    const spoken = spokenText(read.piece);
    checkPauses(pausesS(read.piece), field);
    const runs = typeof read.piece === "string" ? [] : read.piece.runs;
    let next = 0;
    const fault = inlineFault(spoken, (place) => {
      while (next < runs.length && runs[next]!.to <= place) next += 1;
      const run = runs[next];
      return languages.accentOf(run !== undefined && run.from <= place ? run.voice : null);
    });
    if (fault !== null) throw new ServiceError(400, `${field}: ${fault}`, { param: field });
    return { ...read, spoken };
  } catch (error) {
    if (!(error instanceof MarkupError)) throw error;
    throw new ServiceError(400, `${field}: ${error.message}`, { param: field });
  }
}

/** Maximum of all pauses of a text together: about as long as the longest text is spoken. */
const MAX_PAUSES_S = 600;

/** Throws a 400 {@link ServiceError} if the pauses of a text last too long together. */
export function checkPauses(totalS: number, field: string): void {
  if (totalS <= MAX_PAUSES_S) return;
  const fault = `its pauses last ${Math.round(totalS)} s together, and at most ${MAX_PAUSES_S} s are allowed`;
  throw new ServiceError(400, `${field}: ${fault}: shorten them or send the text in parts`, { param: field });
}

/** Returns an earlier turn's words without its marks; an unreadable text as it is, since it is not spoken. */
export function plainWords(text: string): string {
  const piece = leniently(text, null, anyVoice);
  return typeof piece === "string" ? piece : spokenText(piece).trim();
}

/** Reads a writer's text with its pauses; all else, voices included, is spoken as it is. */
export function parseWrittenText(text: string): TextPiece {
  return leniently(text, false, null);
}

/** Reads a plain text with its pauses and voices, whose names are not checked. */
export function parsePlainText(text: string): TextPiece {
  return leniently(text, false, anyVoice);
}

function leniently(text: string, isSsml: false | null, findVoice: FindVoice | null): TextPiece {
  try {
    return parseMarkup(text, isSsml, findVoice).piece;
  } catch (error) {
    if (error instanceof MarkupError) return text;
    throw error;
  }
}

/** Resolves and collects the voice names in a text; of several names, the first that the model has. */
function voicesOf(cast: ModelVoices, field: string, found: Map<string, VoiceChoice>): FindVoice {
  return (names, place) => {
    let own: readonly [string, VoiceChoice] | null = null;
    let refused: unknown = null;
    for (const name of names) {
      try {
        const choice = found.get(name) ?? chooseVoice(name, "voice", cast);
        if (choice.customVoice === undefined) return keep(name, choice);
        own ??= [name, { customVoice: { name, field: `${field}: ${place}: voice`, param: field } }];
      } catch (error) {
        refused ??= error;
      }
    }
    if (own === null) throw refused;
    return keep(...own);
  };

  function keep(name: string, choice: VoiceChoice): string {
    if (!found.has(name) && found.size === MAX_TEXT_VOICES)
      throw new Error(`a text may name at most ${MAX_TEXT_VOICES} voices: use fewer`);
    if (!found.has(name)) found.set(name, choice);
    return name;
  }
}

/** Finds voices by language. @param named voices of the text, to which these are added */
function languagesOf(cast: ModelVoices, own: OwnVoice, named: Map<string, VoiceChoice>): VoiceLanguages {
  const all = { ...cast, voices: [...cast.voices, ...(cast.others ?? [])], others: [] };
  const voiceOf = (name: string | null): OwnVoice =>
    name === null ? own : (spokenVoice(named.get(name) ?? {}, name, all) ?? { language: null });
  return {
    accentOf: (name) => accentOfTag(voiceOf(name).language),
    voiceFor(asked, name) {
      const { language, sex } = voiceOf(name);
      const code = languageCodeFrom(asked);
      if (code === null) return undefined;
      if (isWithin(language ?? "en", code)) return name;
      const id = cast.takes.oneLanguage === true ? voiceOfLanguage(code, sex ?? null, all)?.id : undefined;
      if (id !== undefined) named.set(id, chooseVoice(id, "voice", all));
      return id;
    },
  };
}

/** Returns the words that no other voice speaks. */
function ownWords(piece: TextPiece): string {
  if (typeof piece === "string") return piece;
  const spoken = spokenText(piece);
  let [words, at] = ["", 0];
  for (const { from, to, voice } of piece.runs) {
    if (voice === null) continue;
    words += `${spoken.slice(at, from)} `;
    at = to;
  }
  return words + spoken.slice(at);
}

/** Enough for the cast of a play. */
const MAX_TEXT_VOICES = 16;

const anyVoice: FindVoice = ([name = ""]) => name;

const noVoice: FindVoice = () => {
  throw new Error("a text that comes in pieces cannot name a voice: name it for all of the text");
};

/** Returns the requests of a text's markup that the model does not follow. */
function notDone(piece: TextPiece, { id, takes }: ModelVoices): string[] {
  if (typeof piece === "string" || takes.marks === true) return [];
  const asked = KINDS.flatMap(([kind, isAsked]) => (isAsked(piece) ? [kind] : []));
  return asked.length === 0 ? [] : [`the model ${id} does not follow ${asked.join(", ")}`];
}

/** Returns a caution for a text in another language than its voice's, or else for a word whose script it does not speak. */
function notInLanguage(text: string, tag: string, { id, takes, voices, others = [] }: ModelVoices): string[] {
  if (takes.oneLanguage !== true) return [];
  const own = languageTitle(tag);
  const found = detectOtherLanguage(text, languageCodeFrom(tag) ?? "en");
  if (found !== null) {
    const speakers = [...voices, ...others].filter(({ language }) => languageTitle(language ?? "") === found);
    const remedy =
      speakers.length === 0 ? "" : `: ${found} is spoken by ${listOf(speakers.slice(0, MAX_SPEAKERS), [])}`;
    return [`the text looks like ${found}, and the model ${id} reads it as if it were ${own}${remedy}`];
  }
  const word = OTHER_SCRIPT.exec(text)?.[0];
  return word === undefined
    ? []
    : [`the model ${id} does not speak words in the script of ${word.slice(0, 20)}`];
}

/** Voices that a caution names. */
const MAX_SPEAKERS = 4;

const OTHER_SCRIPT = /(?:(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}])\p{L})+/u;

const KINDS: readonly (readonly [string, (text: MarkedText) => boolean])[] = [
  ["marks", ({ points }) => points.some((point) => "mark" in point)],
  ["prosody and emphasis", ({ runs }) => runs.some(({ voice }) => voice === null)],
  ["voices within a text", ({ runs }) => runs.some(({ voice }) => voice !== null)],
];

/** Joins cautions for a header with semicolons, in ASCII; `null` if there are none. */
export function cautionsHeader({ cautions = [] }: { readonly cautions?: readonly string[] }): string | null {
  const text = cautions.join("; ").replaceAll(/[^\x20-\x7e]/g, "?");
  return text === "" ? null : text.slice(0, MAX_HEADER_CHARS);
}

const MAX_HEADER_CHARS = 1_000;
