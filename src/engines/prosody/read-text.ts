import { join } from "node:path";
import type { Lexicon } from "../../core/script.ts";
import { type NativeGuard, openSession } from "../../onnx/session.ts";
import { idRow, idsOf } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";
import { isSpaceCode } from "../../text/characters.ts";
import type { Language, LanguageTag } from "../../text/languages/language.ts";
import { createLanguagePhonemizer } from "../../text/languages/language-phonemizer.ts";
import { accentOf, loadLanguage } from "../../text/languages/languages.ts";
import { type Accent, AMERICAN, BRITISH } from "../../text/phonemes/accent.ts";
import { loadBritishWords } from "../../text/phonemes/british-lexicon.ts";
import { createPhonemizer, type Phonemizer } from "../../text/phonemes/phonemizer.ts";
import {
  phonemeIds,
  soundCount,
  splitClauses,
  withClosingStop,
} from "../../text/phonemes/sentence-phonemes.ts";
import type { UnknownWordNet } from "../../text/phonemes/unknown-words.ts";
import { createUserLexicon, type UserLexicon } from "../../text/phonemes/user-lexicon.ts";
import type { Sentence } from "../../text/sentences/sentences.ts";
import { cutRunOn, spokenSentences } from "../../text/sentences/sentences.ts";
import { loadTextTables, type TextTables } from "../../text/tables/text-tables.ts";
import type { ReadSegment, SegmentReader } from "./segments.ts";
import { sourcesOfWords, type TracedPhonemes, wordCount } from "./spoken-words.ts";

/** Reads sentences as phoneme ids. */
export interface TextReader extends SegmentReader {
  /** Returns a reader with a user's lexicon, in a language whose rules or dictionary are loaded at first use. */
  reading(words: Lexicon, tag?: LanguageTag): SegmentReader;
  /** Returns the phoneme or mark of an id; "" for none. */
  phonemeOf(id: number): string;
  close(): Promise<void>;
}

/** Opens the network for unknown words (`oov.onnx`). @throws Error naming the file that is missing or damaged */
export async function openUnknownWordNet(
  voiceDir: string,
  guard?: NativeGuard,
): Promise<{ readonly net: UnknownWordNet; close(): Promise<void> }> {
  const path = join(voiceDir, "oov.onnx");
  const session = await openSession(await readVerifiedFile(path), path, { guard });
  return {
    net: async (characterIds) => idsOf(await session.run({ chars: idRow(characterIds) }), "ids"),
    close: () => session.release(),
  };
}

export interface ReadingOptions {
  /** Dictionary and tagger that are loaded already, perhaps by another thread. Default: read from the folder. */
  readonly tables?: TextTables;
  /** The server's lexicon, which precedes the dictionary. */
  readonly words?: Lexicon;
  /** Phonemes above which sentences are cut: `soft` at commas, `hard` at spaces. Default: 400 and 600. */
  readonly longest?: LongestSegment;
}

type LongestSegment = { readonly soft: number; readonly hard: number };

type SentencePhonemizer = Pick<Phonemizer, "readWithSources">;

interface Phonemizers {
  readonly tables: TextTables;
  /** Returns the phonemizer of an accent or language; a failed load is tried again. @throws Error naming the file */
  in(tag: LanguageTag, language: Language | null): Promise<SentencePhonemizer>;
  close(): Promise<void>;
}

async function openPhonemizers(
  voiceDir: string,
  { tables: given, ...options }: ReadingOptions = {},
  guard?: NativeGuard,
): Promise<Phonemizers> {
  const tables = given ?? (await loadTextTables(voiceDir));
  const { net, close } = await openUnknownWordNet(voiceDir, guard);
  const american = createPhonemizer(tables, net, options);
  let british: Promise<Phonemizer> | undefined;
  const others = new Map<LanguageTag, SentencePhonemizer>();
  const remembered = (tag: LanguageTag, language: Language) => {
    const phonemizer = createLanguagePhonemizer(language, american.listedWord, options.words);
    others.set(tag, phonemizer);
    return phonemizer;
  };
  return {
    tables,
    async in(tag, language) {
      if (tag === "en-US") return american;
      if (language !== null) return others.get(tag) ?? remembered(tag, language);
      british ??= loadBritishWords().then((british) =>
        createPhonemizer(tables, net, { ...options, british }),
      );
      return await british.catch((error: unknown) => {
        british = undefined;
        throw error;
      });
    },
    close,
  };
}

/** Opens the reading that `antiphon phonemes` prints: one string per spoken segment. */
export async function openSpokenPhonemes(
  voiceDir: string,
  { tag = "en-US", ...options }: ReadingOptions & { readonly tag?: LanguageTag } = {},
): Promise<{ phonemes(text: string): Promise<string[]>; close(): Promise<void> }> {
  const language = await loadLanguage(tag);
  const { in: phonemizerIn, tables, close } = await openPhonemizers(voiceDir, options);
  return {
    async phonemes(text) {
      const phonemizer = await phonemizerIn(tag, language);
      const spoken: string[] = [];
      for (const { text: sentence } of sentencesIn(text, language)) {
        const segments = await segmentsOf(phonemizer, sentence);
        for (const { phonemes } of segments)
          if (wordCount(phonemeIds(phonemes, tables)) > 0) spoken.push(phonemes);
      }
      return spoken;
    },
    close,
  };
}

export async function openTextReader(
  voiceDir: string,
  options: ReadingOptions = {},
  guard?: NativeGuard,
): Promise<TextReader> {
  const { in: phonemizerIn, tables, close } = await openPhonemizers(voiceDir, options, guard);
  const reader = (words: Lexicon, tag: LanguageTag): SegmentReader => {
    let own: readonly UserLexicon[] | undefined;
    return {
      split: async (piece) => sentencesIn(piece, await loadLanguage(tag)),
      async read(sentence, cuts) {
        const language = await loadLanguage(tag);
        const phonemizer = await phonemizerIn(tag, language);
        own ??= words.length === 0 ? [] : [createUserLexicon(words, accentIn(tag, language))];
        const segments = await segmentsOf(phonemizer, sentence, own, options.longest, cuts);
        return segments
          .map(
            (segment): ReadSegment => ({
              ids: phonemeIds(segment.phonemes, tables),
              sources: sourcesOfWords(segment, tables.vocabulary),
              ...(segment.isBrokenOff === true ? { isBrokenOff: true } : {}),
              ...(language === null ? {} : { questions: language }),
            }),
          )
          .filter(({ ids }) => wordCount(ids) > 0);
      },
    };
  };
  const phonemes = new Map([...tables.vocabulary].map(([phoneme, id]) => [id, phoneme]));
  return {
    ...reader([], "en-US"),
    reading: (words, tag = "en-US") => reader(words, tag),
    phonemeOf: (id) => phonemes.get(id) ?? "",
    close,
  };
}

function accentIn(tag: LanguageTag, language: Language | null): Accent {
  if (language !== null) return accentOf(language);
  return tag === "en-GB" ? BRITISH : AMERICAN;
}

function sentencesIn(text: string, language: Language | null): readonly Sentence[] {
  return spokenSentences(text, language?.sentences).flatMap(cutRunOn);
}

/** Returns the phonemes of a sentence by segments, cut at commas or else spaces to bound their memory. */
async function segmentsOf(
  phonemizer: SentencePhonemizer,
  sentence: string,
  words?: readonly UserLexicon[],
  { soft, hard }: LongestSegment = LONGEST,
  cuts: readonly number[] = [],
): Promise<ReadPhonemes[]> {
  const { phonemes, sources } = await phonemizer.readWithSources(sentence, words);
  const counts = cuts.map((place) => sources.before(place));
  let before = 0;
  return cutBehind(withClosingStop(phonemes, sentence), counts).flatMap((stretch, index, stretches) => {
    const segments = splitClauses(stretch, soft, hard).map((segment) => {
      const traced = { phonemes: segment, sources, before };
      before += soundCount(segment);
      return traced;
    });
    const last = segments.at(-1);
    if (last === undefined || index === stretches.length - 1) return segments;
    return [...segments.slice(0, -1), brokenOff(last)];
  });
}

/** Cuts phonemes after each count of sounds, spaces not counted; marks stay with what is before them. */
function cutBehind(phonemes: string, counts: readonly number[]): string[] {
  const stretches: string[] = [];
  let from = 0;
  let at = 0;
  let sounds = 0;
  for (const count of counts) {
    while (at < phonemes.length && sounds < count) {
      sounds += isSpaceCode(phonemes.charCodeAt(at)) ? 0 : 1;
      at++;
    }
    add(phonemes.slice(from, at));
    from = at;
  }
  add(phonemes.slice(from));
  return stretches;

  function add(stretch: string): void {
    if (/[^;:,.!?—…"“”()\s]/u.test(stretch) || stretches.length === 0) stretches.push(stretch.trim());
    else stretches[stretches.length - 1] += stretch.trim();
  }
}

/** Ends a segment that breaks off within a sentence with a comma, so that it sounds as at one. */
function brokenOff(segment: TracedPhonemes): ReadPhonemes {
  const { phonemes } = segment;
  if (phonemes === "" || /[;:,.!?—…]["”]?$/u.test(phonemes)) return segment;
  return { ...segment, phonemes: `${phonemes},`, isBrokenOff: true };
}

interface ReadPhonemes extends TracedPhonemes {
  readonly isBrokenOff?: true;
}

const LONGEST: LongestSegment = { soft: 400, hard: 600 };
