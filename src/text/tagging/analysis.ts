import { hasSpeakable, isAllLetters, wordMap, wordSet } from "../characters.ts";
import { type GivenWord, markedWord } from "../phonemes/given-words.ts";
import { MONEY } from "../phonemes/number-reading.ts";
import type { RewrittenText, TextRange } from "../rewritten-text.ts";
import type { TextTables } from "../tables/text-tables.ts";
import type { Heteronyms } from "./heteronyms.ts";
import { createTagger } from "./tagger.ts";
import { createTokeniser, markQuotes, subTokens, type Token } from "./tokeniser.ts";

export interface Piece extends TextRange {
  readonly text: string;
  readonly tag: string;
  readonly spaceAfter: boolean;
  /** Phonemes that need no lookup (marks, given words); "" is silent. */
  given: string | null;
  alias: string | null;
  /** Phonemes that the context decides. */
  readonly reading: string | null;
  currency: string | null;
  /** Whether no other piece is joined before it. */
  head: boolean;
}

/** A piece, or adjoining pieces that may form one word. */
export type Unit = Piece | readonly Piece[];

/** Tokenises and tags a normalised sentence. Private-use characters stand for `given` words. */
export type Analysis = (sentence: RewrittenText, given?: readonly GivenWord[]) => Analysed;

/** Units with positions in `text`. */
export interface Analysed {
  readonly units: readonly Unit[];
  readonly text: RewrittenText;
}

export function spanOf(unit: Unit): TextRange {
  if (!isGroup(unit)) return unit;
  return { from: unit[0]?.from ?? 0, to: unit.at(-1)?.to ?? 0 };
}

export function isGroup(unit: Unit): unit is readonly Piece[] {
  return Array.isArray(unit);
}

interface TaggedToken extends Token, TextRange {
  readonly tag: string;
  readonly given: string | null;
  readonly reading: string | null;
}

const MARK_TAGS = wordSet(`. , -LRB- -RRB- \`\` "" '' : $ # NFP`);
const MARK_PHONEMES = wordMap("-LRB- (,-RRB- ),`` “,\"\" ”,'' ”");
const WORD = /^[a-z]+$/i;
const ENDS_IN_DIGIT = /\d$/;
const NOT_PUNCTUATION = /[^;:,.!?—…"“”]/g;
const LINK = /\[([^\]]+)\]\(([^)]*)\)/g;
const MARK = /([\ue000-\uf8ff])/;

export function createAnalysis(
  tables: Pick<TextTables, "exceptions" | "tagger" | "vocabulary">,
  heteronyms: Heteronyms,
): Analysis {
  const tokenise = createTokeniser(tables.exceptions);
  const tag = createTagger(tables.tagger);

  return (sentence, given = []) => {
    const text = sentence.text.includes("](") ? sentence.unwrapped(LINK) : sentence;
    return { units: group(annotate(withoutCodesAsMarks(tagged(text.text, given)))), text };
  };

  function tagged(text: string, given: readonly GivenWord[]): TaggedToken[] {
    const tokens: readonly TokenOrGiven[] =
      given.length > 0 ? withGiven(tokenise(text), given) : tokenise(text);
    const marks = markQuotes(tokens);
    const tags = tag(tokens.filter((_token, index) => marks[index] == null).map((token) => token.text));
    let next = 0;
    const all = tokens.map((_token, index) => marks[index] ?? tags[next++] ?? "NN");
    const settled = heteronyms(
      tokens.map((token) => token.text),
      all,
    );
    return tokens.map((token, index) => {
      const here = settled.get(index);
      const { text, spaceAfter, given = null } = token;
      const { from } = token;
      const to = from + (token.length ?? text.length);
      const tag = here?.tag ?? all[index] ?? "NN";
      return { text, from, to, spaceAfter, tag, given, reading: here?.reading ?? null };
    });
  }
}

interface TokenOrGiven extends Token {
  readonly given?: string;
  /** Length in the text, if it differs from the token's. */
  readonly length?: number;
}

/** Separates the characters that stand for given words. */
function withGiven(tokens: readonly Token[], given: readonly GivenWord[]): TokenOrGiven[] {
  return tokens.flatMap(({ text, from: start, spaceAfter }) => {
    const parts = text.split(MARK).filter((part) => part !== "");
    let end = start;
    return parts.map((part, index): TokenOrGiven => {
      const word = given[markedWord(part, given)];
      const from = end;
      end += part.length;
      const rest = { from, spaceAfter: spaceAfter && index === parts.length - 1 };
      return word === undefined
        ? { ...rest, text: part }
        : { ...rest, text: word.word, length: part.length, given: word.phonemes };
    });
  });
}

/** The tagger sometimes takes "A-12" for a mark. */
function withoutCodesAsMarks(tokens: readonly TaggedToken[]): TaggedToken[] {
  return tokens.map((token) => {
    if (!MARK_TAGS.has(token.tag) || WORD.test(token.text) || !hasSpeakable(token.text)) return token;
    return { ...token, tag: ENDS_IN_DIGIT.test(token.text) ? "CD" : "NN" };
  });
}

/** Splits tokens into pieces, and resolves marks, currency signs and the 2 of "B2B". */
function annotate(tokens: readonly TaggedToken[]): Piece[] {
  const pieces: Piece[] = [];
  let money: string | null = null;
  for (const [index, token] of tokens.entries()) {
    const texts = token.given === null ? subTokens(token.text) : [token.text];
    for (const [at, text] of texts.entries()) {
      const last = at === texts.length - 1;
      const piece: Piece = {
        text,
        from: token.from,
        to: token.to,
        tag: token.tag,
        spaceAfter: last && token.spaceAfter,
        given: token.given,
        alias: null,
        reading: texts.length === 1 ? token.reading : null,
        currency: null,
        head: true,
      };
      pieces.push(piece);
      if (piece.given !== null) continue;
      if (token.tag === "$" && MONEY.has(text)) {
        money = text;
        piece.given = "";
      } else if (token.tag === ":" && (text === "-" || text === "–")) {
        piece.given = "—";
      } else if (MARK_TAGS.has(token.tag) && !WORD.test(text)) {
        piece.given = MARK_PHONEMES.get(token.tag) ?? text.replace(NOT_PUNCTUATION, "");
      } else if (money !== null) {
        if (token.tag !== "CD") money = null;
        else if (last && tokens[index + 1]?.tag !== "CD") piece.currency = money;
      } else if (
        text === "2" &&
        at > 0 &&
        !last &&
        isLetterBeside(texts[at - 1], -1) &&
        isLetterBeside(texts[at + 1], 0)
      ) {
        piece.alias = "to";
      }
    }
  }
  return pieces;
}

function isLetterBeside(text: string | undefined, at: 0 | -1): boolean {
  return isAllLetters(Array.from(text ?? "").at(at) ?? "");
}

function group(pieces: readonly Piece[]): Unit[] {
  const units: (Piece | Piece[])[] = [];
  for (const piece of pieces) {
    const open = units.at(-1);
    if (piece.given !== null || piece.alias !== null) units.push(piece);
    else if (Array.isArray(open) && open.at(-1)?.spaceAfter === false) {
      piece.head = false;
      open.push(piece);
    } else units.push(piece.spaceAfter ? piece : [piece]);
  }
  return units.map((unit) =>
    Array.isArray(unit) && unit.length === 1 && unit[0] !== undefined ? unit[0] : unit,
  );
}
