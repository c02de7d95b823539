import type { TranscriptionTask } from "../../core/recogniser.ts";
import type { Session } from "../../onnx/session.ts";
import { float32, floatsOf, idRow, int64, type Tensor } from "../../onnx/tensor.ts";
import { HEAD_WIDTH, translateToken, type WhisperDescription, type WhisperSizes } from "./description.ts";
import type { Encoded } from "./networks.ts";
import { repeatedPhrase } from "./repetition.ts";

export interface DecodeRequest {
  /** `transcribe` for an English-only model. */
  readonly task: TranscriptionTask;
  /** ISO 639-1 code of the speech; `null` detects it. */
  readonly language: string | null;
  /** Tokens of what may have been said before. */
  readonly prompt: readonly number[];
  /** Earlier transcript of the same speech, as tokens, with its language. */
  readonly draft: { readonly ids: readonly number[]; readonly language: string | null } | null;
  readonly maxTokens: number;
  /** Whether a repeated phrase ends decoding. */
  readonly stopsAtLoops: boolean;
}

export interface DecodedWindow {
  readonly ids: readonly number[];
  /** Natural logarithms, including that of the end token if it was reached. */
  readonly logProbabilities: readonly number[];
  /** Tokens of the phrase that the decoder kept repeating, otherwise 0. */
  readonly repeatedPhrase: number;
  /** Whether `maxTokens` was reached before the end token. */
  readonly isCut: boolean;
  readonly noSpeechProbability: number;
  readonly language: string;
  readonly languageProbability: number;
  /** Attention row of the first token. */
  readonly firstRow: number;
  /** Attention row of the first token after the prompt. */
  readonly startRow: number;
}

/**
 * Decodes a clip greedily.
 *
 * @param check called before each step; may throw to stop
 */
export async function decode(
  run: DecoderRun,
  description: WhisperDescription,
  sampler: Sampler,
  request: DecodeRequest,
  check: () => void,
): Promise<DecodedWindow> {
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
      run.truncate(0);
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
      // The draft was in another language and is useless.
      [language, draft] = [null, []];
      run.truncate(0);
      continue;
    }
    const written = await generate(
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

interface GenerateOptions extends Pick<DecodeRequest, "maxTokens" | "stopsAtLoops"> {
  /** Tokens before the text. */
  readonly lead: number;
  /** Logits after the lead and after each draft token. */
  readonly rows: readonly Float32Array[];
  readonly draft: readonly number[];
}

async function generate(
  run: DecoderRun,
  sampler: Sampler,
  end: number,
  { lead, rows, draft, maxTokens, stopsAtLoops }: GenerateOptions,
  check: () => void,
): Promise<Pick<DecodedWindow, "ids" | "logProbabilities" | "repeatedPhrase" | "isCut">> {
  const ids: number[] = [];
  const logProbabilities: number[] = [];
  let logits = rows[0]!;
  for (;;) {
    const { id, logProbability } = sampler.argmax(logits, ids.length === 0);
    logProbabilities.push(logProbability);
    const isConfirmed =
      ids.length < draft.length && draft[ids.length] === id && run.length > lead + ids.length;
    if (!isConfirmed) run.truncate(lead + ids.length);
    if (id === end) return { ids, logProbabilities, repeatedPhrase: 0, isCut: false };
    ids.push(id);
    const isFull = ids.length >= maxTokens;
    const phrase = stopsAtLoops || isFull ? repeatedPhrase(ids) : 0;
    if (phrase > 0 || isFull) {
      run.truncate(lead + ids.length);
      return { ids, logProbabilities, repeatedPhrase: phrase, isCut: phrase === 0 };
    }
    check();
    logits = isConfirmed ? rows[ids.length]! : (await run.read([id], [0]))[0]!;
  }
}

export interface Sampler {
  /** Returns the likeliest text token, or the end token. @param isFirst whether no token was written before */
  argmax(logits: Float32Array, isFirst: boolean): { readonly id: number; readonly logProbability: number };
  language(logits: Float32Array): string;
  /** Returns a language's probability among the model's languages. */
  languageProbability(logits: Float32Array, code: string): number;
}

export function createSampler({ special, suppressed, suppressedFirst }: WhisperDescription): Sampler {
  const never = new Uint8Array(special.end + 1);
  for (const id of suppressed) never[id] = 1;
  never[special.end] = 0;
  const neverFirst = never.slice();
  for (const id of suppressedFirst) neverFirst[id] = 1;
  const codes = Object.keys(special.languages);
  const languageIds = Object.values(special.languages);

  function probabilities(logits: Float32Array): number[] {
    const own = languageIds.map((id) => logits[id]!);
    const max = Math.max(...own);
    const parts = own.map((value) => Math.exp(value - max));
    const sum = parts.reduce((total, part) => total + part, 0);
    return parts.map((part) => part / sum);
  }

  return {
    argmax(logits, isFirst) {
      const banned = isFirst ? neverFirst : never;
      let id = special.end;
      let max = Number.NEGATIVE_INFINITY;
      for (let at = 0; at <= special.end; at++) {
        if (logits[at]! > max && banned[at] === 0) [id, max] = [at, logits[at]!];
      }
      return { id, logProbability: logProbabilityOf(logits, id) };
    },
    language(logits) {
      const all = probabilities(logits);
      const at = all.indexOf(Math.max(...all));
      return codes[at]!;
    },
    languageProbability: (logits, code) => probabilities(logits)[codes.indexOf(code)]!,
  };
}

/** Logits this far below the maximum add less than 1e-6 in all. */
const NEGLIGIBLE = 25;

/** Returns a natural logarithm. */
export function logProbabilityOf(logits: Float32Array, id: number): number {
  let max = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < logits.length; at++) if (logits[at]! > max) max = logits[at]!;
  let sum = 0;
  for (let at = 0; at < logits.length; at++) {
    const below = logits[at]! - max;
    if (below > -NEGLIGIBLE) sum += Math.exp(below);
  }
  return logits[id]! - max - Math.log(sum);
}

/** The decoder's state over one encoded clip. */
export class DecoderRun {
  readonly #decoder: Session;
  readonly #sizes: WhisperSizes;
  readonly #encoded: Encoded;
  readonly #positions: number;
  readonly #attention: Float32Array[] = [];
  #past: Record<string, Tensor>;

  /** @param positions of the clip itself; attention to the silence after it is dropped */
  constructor(decoder: Session, sizes: WhisperSizes, encoded: Encoded, positions: number) {
    this.#decoder = decoder;
    this.#sizes = sizes;
    this.#encoded = encoded;
    this.#positions = positions;
    this.#past = Object.fromEntries(
      this.#names("past").map((name) => [
        name,
        float32(new Float32Array(0), [1, sizes.heads, 0, HEAD_WIDTH]),
      ]),
    );
  }

  /** Tokens read. */
  get length(): number {
    return this.#attention.length;
  }

  /** Attention per token read, [alignment heads, positions]. */
  get attention(): readonly Float32Array[] {
    return this.#attention;
  }

  /** Reads tokens. @param wanted their indices whose next-token logits are returned */
  async read(ids: readonly number[], wanted: readonly number[]): Promise<Float32Array[]> {
    const before = this.length;
    const outputs = await this.#decoder.run({
      ids: idRow(ids),
      places: int64(
        BigInt64Array.from(ids, (_, at) => BigInt(before + at)),
        [ids.length],
      ),
      mask: causalMask(ids.length, before),
      wanted: int64(BigInt64Array.from(wanted, BigInt), [wanted.length]),
      ...this.#past,
      ...this.#encoded,
    });
    this.#past = Object.fromEntries(
      this.#names("past").map((name) => [name, outputs[name.replace("past", "all")]!]),
    );
    this.#keepAttention(floatsOf(outputs, "attention"), ids.length);
    const logits = floatsOf(outputs, "logits");
    const { vocabulary } = this.#sizes;
    return wanted.map((_, at) => logits.subarray(at * vocabulary, (at + 1) * vocabulary));
  }

  /** Drops all but the first tokens. */
  truncate(length: number): void {
    const before = this.length;
    if (length >= before) return;
    this.#attention.length = length;
    const { heads } = this.#sizes;
    for (const name in this.#past) {
      const data = this.#past[name]!.data as Float32Array;
      const kept = new Float32Array(heads * length * HEAD_WIDTH);
      for (let head = 0; head < heads; head++) {
        const from = head * before * HEAD_WIDTH;
        kept.set(data.subarray(from, from + length * HEAD_WIDTH), head * length * HEAD_WIDTH);
      }
      this.#past[name] = float32(kept, [1, heads, length, HEAD_WIDTH]);
    }
  }

  #names(prefix: string): string[] {
    return Array.from({ length: this.#sizes.decoderLayers }, (_, layer) => [
      `${prefix}_keys.${layer}`,
      `${prefix}_values.${layer}`,
    ]).flat();
  }

  /** @param all [heads, tokens, all positions] */
  #keepAttention(all: Float32Array, tokens: number): void {
    const positions = this.#encoded.weights!.shape[0]!;
    const heads = all.length / tokens / positions;
    for (let token = 0; token < tokens; token++) {
      const own = new Float32Array(heads * this.#positions);
      for (let head = 0; head < heads; head++) {
        const from = (head * tokens + token) * positions;
        own.set(all.subarray(from, from + this.#positions), head * this.#positions);
      }
      this.#attention.push(own);
    }
  }
}

function causalMask(count: number, before: number): Tensor {
  const mask = new Float32Array(count * (before + count));
  for (let row = 0; row < count; row++) {
    mask.fill(-1e9, row * (before + count) + before + row + 1, (row + 1) * (before + count));
  }
  return float32(mask, [count, before + count]);
}
