import type { TranscriptionTask } from "../../../core/recogniser.ts";
import { translateToken, type WhisperDescription } from "../description.ts";
import type { DecoderRun } from "./decoder-run.ts";
import { repeatedPhrase } from "./repetition.ts";
import { logProbabilityOf, type Sampler } from "./sampler.ts";

export interface DecodeRequest {
  /** A model that knows English alone has but the one. */
  readonly task: TranscriptionTask;
  /** That is spoken: ISO 639-1; `null` lets the model find out. */
  readonly language: string | null;
  /** What may have been said before, as tokens. */
  readonly prompt: readonly number[];
  /** What the same speech was taken for, as tokens, and in which language. */
  readonly draft: { readonly ids: readonly number[]; readonly language: string | null } | null;
  /** Most tokens that are written. */
  readonly maxTokens: number;
  /** Whether a phrase that repeats ends the work. */
  readonly stopsAtLoops: boolean;
}

/** What the decoder wrote. */
export interface Decoded {
  readonly ids: readonly number[];
  /** Natural logarithm of each token's probability; that of the end is last, where it came to one. */
  readonly logProbabilities: readonly number[];
  /** Tokens of the phrase that it got caught in, else 0. */
  readonly repeatedPhrase: number;
  /** Whether it wrote as much as it might, and did not come to an end. */
  readonly isCut: boolean;
  readonly noSpeechProbability: number;
  readonly language: string;
  readonly languageProbability: number;
  /** Row of the run's attention that goes with the first token. */
  readonly firstRow: number;
  /** Row of the first token that is not of the prompt. */
  readonly startRow: number;
}

/**
 * Writes what is said in a clip, the likeliest token each time.
 *
 * @param check called before each step; what it throws ends the work
 */
export async function decode(
  run: DecoderRun,
  description: WhisperDescription,
  sampler: Sampler,
  request: DecodeRequest,
  check: () => void,
): Promise<Decoded> {
  const { special } = description;
  const isMultilingual = Object.keys(special.languages).length > 0;
  const before = request.prompt.length === 0 ? [] : [special.startOfPrevious, ...request.prompt];
  const startRow = before.length;
  const task = request.task === "translate" ? translateToken(special) : special.transcribe;
  let language = request.language ?? request.draft?.language ?? null;
  let draft = request.draft?.ids ?? [];

  check();
  for (;;) {
    if (isMultilingual && language === null) {
      const [logits] = await run.read([special.start], [0]);
      language = sampler.language(logits!);
      run.cut(0);
      check();
    }
    const lead = isMultilingual
      ? [...before, special.start, special.languages[language!]!, task, special.noTimestamps]
      : [...before, special.start, special.noTimestamps];
    const tokens = [...lead, ...draft];
    const wanted = [startRow, ...draft.map((_, at) => lead.length - 1 + at), tokens.length - 1];
    const [first, ...rows] = (await run.read(tokens, wanted)) as [Float32Array, ...Float32Array[]];
    const found = isMultilingual ? sampler.language(first) : null;
    if (request.language === null && draft.length > 0 && found !== language) {
      // What was taken for one language is another: the draft is worth nothing.
      [language, draft] = [null, []];
      run.cut(0);
      continue;
    }
    const written = await write(
      run,
      sampler,
      special.end,
      { ...request, lead: lead.length, rows, draft },
      check,
    );
    return {
      ...written,
      noSpeechProbability: Math.exp(logProbabilityOf(first, special.noSpeech)),
      language: language ?? "en",
      languageProbability: isMultilingual ? sampler.languageProbability(first, language!) : 1,
      firstRow: lead.length - 1,
      startRow,
    };
  }
}

interface Beginning extends Pick<DecodeRequest, "maxTokens" | "stopsAtLoops"> {
  /** Tokens ahead of the text. */
  readonly lead: number;
  /** Logits of what follows the lead, and each token of the draft. */
  readonly rows: readonly Float32Array[];
  readonly draft: readonly number[];
}

async function write(
  run: DecoderRun,
  sampler: Sampler,
  end: number,
  { lead, rows, draft, maxTokens, stopsAtLoops }: Beginning,
  check: () => void,
): Promise<Pick<Decoded, "ids" | "logProbabilities" | "repeatedPhrase" | "isCut">> {
  const ids: number[] = [];
  const logProbabilities: number[] = [];
  let logits = rows[0]!;
  for (;;) {
    const { id, logProbability } = sampler.argmax(logits, ids.length === 0);
    logProbabilities.push(logProbability);
    const isConfirmed =
      ids.length < draft.length && draft[ids.length] === id && run.length > lead + ids.length;
    if (!isConfirmed) run.cut(lead + ids.length);
    if (id === end) return { ids, logProbabilities, repeatedPhrase: 0, isCut: false };
    ids.push(id);
    const isFull = ids.length >= maxTokens;
    const phrase = stopsAtLoops || isFull ? repeatedPhrase(ids) : 0;
    if (phrase > 0 || isFull) {
      run.cut(lead + ids.length);
      return { ids, logProbabilities, repeatedPhrase: phrase, isCut: phrase === 0 };
    }
    check();
    logits = isConfirmed ? rows[ids.length]! : (await run.read([id], [0]))[0]!;
  }
}
