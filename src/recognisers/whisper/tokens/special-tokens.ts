/** Ids of the tokens that are no text. */
export interface SpecialTokens {
  /** The first of them: whatever is below is text. */
  readonly end: number;
  readonly start: number;
  readonly startOfPrevious: number;
  readonly transcribe: number;
  readonly noSpeech: number;
  readonly noTimestamps: number;
  /** By ISO 639 code, in Whisper's order; empty for a model that knows English alone. */
  readonly languages: Readonly<Record<string, number>>;
}

/**
 * `<|translate|>`, which every vocabulary of Whisper has right before `<|transcribe|>`. It is not among the tokens above:
 * what was converted before there were translations has no id for it, and would have to be fetched anew.
 */
export function translateToken({ transcribe }: SpecialTokens): number {
  return transcribe - 1;
}

/** As many tokens as models of English alone have. */
const ENGLISH_ONLY = 51_864;

/** @throws Error when a token is missing that every Whisper model has, or is not where {@link translateToken} takes it to be. */
export function specialTokens(vocabulary: readonly string[], size: number): SpecialTokens {
  const ids = new Map(vocabulary.map((token, id) => [token, id]));
  const id = (...names: readonly string[]): number => {
    const found = names.map((name) => ids.get(`<|${name}|>`)).find((each) => each !== undefined);
    if (found === undefined || found >= size) throw new Error(`The vocabulary has no <|${names[0]}|>.`);
    return found;
  };
  const start = id("startoftranscript");
  const translate = id("translate");
  const transcribe = id("transcribe");
  if (transcribe !== translate + 1)
    throw new Error("The vocabulary has no <|translate|> before <|transcribe|>.");
  const languages = vocabulary
    .slice(start + 1, translate)
    .flatMap((token, at) => (/^<\|[a-z]{2,3}\|>$/.test(token) ? [[token.slice(2, -2), start + 1 + at]] : []));
  return {
    end: id("endoftext"),
    start,
    startOfPrevious: id("startofprev"),
    transcribe,
    noSpeech: id("nospeech", "nocaptions"),
    noTimestamps: id("notimestamps"),
    languages: size <= ENGLISH_ONLY ? {} : Object.fromEntries(languages),
  };
}
