import { resample } from "../../audio/resample.ts";
import type { TranscriptionTask, TranscriptSegment } from "../../core/recogniser.ts";
import { type BytePairs, bytePairs, rankedByOrder } from "../../onnx/byte-pairs.ts";
import { alignWords, groupSegments, splitWords, WITHOUT_SPACES } from "./align-words.ts";
import {
  createSampler,
  type DecodedWindow,
  type DecodeRequest,
  DecoderRun,
  decode,
  type Sampler,
} from "./decode.ts";
import { POSITION_SAMPLES, WHISPER_RATE_HZ, WINDOW_S } from "./description.ts";
import { activeFrames, findPause, hasNoSpeech } from "./level.ts";
import type { Encoded, Networks } from "./networks.ts";
import { isCopiedFromPrompt, lengthBeforeRepeat, promptTokens, sharesHalfTheWords } from "./repetition.ts";

export interface WindowRequest {
  /** At most 30 s; exactly 30 s if the clip goes on. */
  readonly samples: Float32Array;
  readonly sampleRateHz: number;
  /** Whether the clip ends here. */
  readonly isLast: boolean;
  readonly task: TranscriptionTask;
  /** Language of the speech, one of {@link Networks.description}; `null` detects it. */
  readonly language: string | null;
  readonly prompt: string | null;
  readonly draft: { readonly text: string; readonly language: string | null } | null;
}

export interface WindowTranscript {
  /** Seconds that were transcribed: up to a pause if the clip goes on. */
  readonly transcribedS: number;
  /** `null` without speech. */
  readonly language: string | null;
  readonly languageProbability: number | null;
  readonly speechProbability: number;
  /** Natural logarithms of the probabilities of all tokens, including the end token. */
  readonly logProbabilities: readonly number[];
  /** Times from the window's start; empty without speech. */
  readonly segments: readonly TranscriptSegment[];
}

/**
 * OpenAI's rule for no speech: at least this probability of no speech, and at most this mean log-probability. Below
 * the third value there is no speech in any case; speech under noise of equal level has -0.8.
 */
const NO_SPEECH_PROBABILITY = 0.6;
const UNSURE_LOG_PROBABILITY = -1;
const GUESSED_LOG_PROBABILITY = -1.35;

/** Maximum tokens per second of sound: more than any speaker says. */
const TOKENS_PER_S = 12;
const MORE_TOKENS = 8;
const MAX_TOKENS = 220;

export class WindowTranscriber {
  readonly #networks: Networks;
  readonly #pairs: BytePairs;
  readonly #sampler: Sampler;

  constructor(networks: Networks) {
    this.#networks = networks;
    this.#pairs = bytePairs(rankedByOrder(networks.description.tokens));
    this.#sampler = createSampler(networks.description);
  }

  /** @param check called before each step; may throw to stop */
  async transcribe(request: WindowRequest, check: () => void): Promise<WindowTranscript> {
    check();
    const all = resample(request.samples, request.sampleRateHz, WHISPER_RATE_HZ);
    const end = request.isLast ? Math.min(all.length, WINDOW_S * WHISPER_RATE_HZ) : findPause(all);
    const samples = all.subarray(0, end);
    const transcribedS = request.isLast
      ? request.samples.length / request.sampleRateHz
      : samples.length / WHISPER_RATE_HZ;
    if (hasNoSpeech(samples)) return { ...NO_SPEECH, transcribedS };
    check();
    const heard = await this.#heard(samples, request, check);
    const { decoded } = heard;
    const { language, languageProbability, noSpeechProbability, logProbabilities } = decoded;
    const mean = logProbabilities.reduce((sum, value) => sum + value, 0) / logProbabilities.length;
    const minLogProbability =
      noSpeechProbability > NO_SPEECH_PROBABILITY ? UNSURE_LOG_PROBABILITY : GUESSED_LOG_PROBABILITY;
    const isSpeech = mean >= minLogProbability;
    return {
      transcribedS,
      language: isSpeech ? language : null,
      languageProbability: isSpeech ? languageProbability : null,
      speechProbability: 1 - noSpeechProbability,
      logProbabilities: isSpeech ? logProbabilities : [],
      segments: isSpeech ? this.#segments(heard, samples, request.task) : [],
    };
  }

  async #heard(samples: Float32Array, request: WindowRequest, check: () => void): Promise<DecodedRun> {
    const encoded = await this.#networks.encodeShort(samples);
    const heard = await this.#decoded(encoded, samples, request, check);
    const { ids, language, ...decoded } = heard.decoded;
    if (decoded.repeatedPhrase > 0 || decoded.isCut) return await this.#again(samples, request, check);
    if (request.prompt === null || !isCopiedFromPrompt(ids, promptTokens(request.prompt, this.#pairs)))
      return heard;
    // If the speaker really said the prompt's words, decoding without it finds them too.
    const text = this.#pairs.decode(ids);
    const without = { ...request, prompt: null, draft: { text, language } };
    const other = await this.#decoded(encoded, samples, without, check);
    return sharesHalfTheWords(text, this.#pairs.decode(other.decoded.ids)) ? heard : other;
  }

  /**
   * Decodes with all 30 s encoded and without a prompt, the usual causes of loops. Speakers may repeat themselves:
   * repetition that ends is kept; endless repetition is cut after its first occurrence.
   */
  async #again(samples: Float32Array, request: WindowRequest, check: () => void): Promise<DecodedRun> {
    check();
    const encoded = await this.#networks.encodeFull(samples);
    const { run, decoded } = await this.#decoded(
      encoded,
      samples,
      { ...request, prompt: null, draft: null },
      check,
      false,
    );
    if (decoded.repeatedPhrase === 0) return { run, decoded };
    const kept = lengthBeforeRepeat(decoded.ids, decoded.repeatedPhrase);
    const logProbabilities = decoded.logProbabilities.slice(0, kept);
    return { run, decoded: { ...decoded, ids: decoded.ids.slice(0, kept), logProbabilities } };
  }

  async #decoded(
    encoded: Encoded,
    samples: Float32Array,
    request: WindowRequest,
    check: () => void,
    stopsAtLoops = true,
  ): Promise<DecodedRun> {
    const { description, decoder } = this.#networks;
    const positions = Math.min(
      description.sizes.audioPositions,
      Math.ceil(samples.length / POSITION_SAMPLES),
    );
    const run = new DecoderRun(decoder, description.sizes, encoded, positions);
    const maxTokens = Math.min(
      MAX_TOKENS,
      Math.ceil((TOKENS_PER_S * samples.length) / WHISPER_RATE_HZ) + MORE_TOKENS,
    );
    const asked = { ...this.#decodeRequest(request, maxTokens), stopsAtLoops };
    return { run, decoded: await decode(run, description, this.#sampler, asked, check) };
  }

  #decodeRequest(
    { task, language, prompt, draft }: WindowRequest,
    maxTokens: number,
  ): Omit<DecodeRequest, "stopsAtLoops"> {
    const encoded = (text: string): number[] => this.#pairs.encode(` ${text.trim()}`);
    // More audio is likeliest to change the last two tokens of a draft.
    const draftIds = draft === null || draft.text.trim() === "" ? [] : encoded(draft.text).slice(0, -2);
    return {
      task,
      language,
      prompt: prompt === null ? [] : promptTokens(prompt, this.#pairs),
      draft:
        draftIds.length === 0
          ? null
          : { ids: draftIds.slice(0, maxTokens - 1), language: draft?.language ?? null },
      maxTokens,
    };
  }

  #segments(
    { run, decoded }: DecodedRun,
    samples: Float32Array,
    task: TranscriptionTask,
  ): readonly TranscriptSegment[] {
    const { ids } = decoded;
    const language = task === "translate" ? "en" : decoded.language;
    const { alignmentHeads } = this.#networks.description;
    const words = alignWords(
      splitWords(ids, this.#pairs, language),
      decoded,
      run.attention,
      alignmentHeads,
      activeFrames(samples),
      samples.length / WHISPER_RATE_HZ,
    );
    return groupSegments(words, WITHOUT_SPACES.has(language) ? "" : " ");
  }
}

interface DecodedRun {
  readonly run: DecoderRun;
  readonly decoded: DecodedWindow;
}

const NO_SPEECH: Omit<WindowTranscript, "transcribedS"> = {
  language: null,
  languageProbability: null,
  speechProbability: 0,
  logProbabilities: [],
  segments: [],
};
