import { type Catalogue, createCatalogue } from "../catalogue/catalogue.ts";
import { embeddedCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { findModel, type PublicModel } from "../catalogue/public-models.ts";
import { MAX_SPEECH_FRAMES, MAX_TEXT_CHARS } from "../contract/limits.ts";
import { parseConverseRequest, parseTtsRequest } from "../contract/validate.ts";
import { createSemaphores, serverLimits, workerCount } from "../limits/server-limits.ts";
import type { Recogniser } from "../model/recogniser.ts";
import type { ChosenVoice, VoiceSample } from "../model/script.ts";
import { embeddedVoice } from "../server/embedded-voice.ts";
import { serverLexicon } from "../server/lexicon-file.ts";
import { slotsOf } from "../server/local-checkpoint.ts";
import { localModels } from "../server/local-models.ts";
import { remoteCheckpoints } from "../server/remote-checkpoints.ts";
import { readServerVoices } from "../server/server-voices.ts";
import { unknownVoice } from "../serving/choose-voice.ts";
import { ClipTranscriber } from "../serving/clip-transcriber.ts";
import { HistoryTranscriber } from "../serving/history-transcriber.ts";
import { readInstructions } from "../serving/manner/read-manner.ts";
import { recordingNamed } from "../serving/own-voices.ts";
import { type Prepared, prepareConverse, prepareTts } from "../serving/prepare.ts";
import { SpeechService } from "../serving/service.ts";
import type { Telemetry } from "../serving/telemetry.ts";
import { loadSettings } from "../settings/load.ts";
import type { Settings } from "../settings/schema.ts";
import { passagesIn } from "../text/passages.ts";
import { looksLikeSsml } from "../text/read-marks.ts";
import { ssmlPassages } from "../text/ssml/ssml-passages.ts";
import { NO_SPAN } from "../tracing/span.ts";
import { asAntiphonError, closedError } from "./errors.ts";
import { type SpeechPart, speechOf } from "./speech.ts";
import type {
  Antiphon,
  ConverseOptions,
  OpenSettings,
  SayOptions,
  Speech,
  TranscribeOptions,
  Transcript,
  Turn,
} from "./types.ts";

/** @throws AntiphonError */
export async function openHere(given: OpenSettings): Promise<Antiphon> {
  try {
    return await OpenAntiphon.open(loadSettings({ given, env: {} }));
  } catch (error) {
    throw asAntiphonError(error);
  }
}

interface Parts {
  readonly settings: Settings;
  readonly models: readonly PublicModel[];
  readonly catalogue: Catalogue;
  readonly service: SpeechService;
  readonly writer: { close(): Promise<void> } | null;
  readonly recogniser: Recogniser | null;
}

/** Who writes and who hears by the settings; each is opened when it is first needed, and nothing is fetched. */
async function writerAndRecogniser(settings: Settings) {
  const { composeWriter } = await import("../server/compose-writer.ts");
  const { composeRecogniser } = await import("../server/compose-recogniser.ts");
  const { pullWriter } = await import("../server/pull-writer.ts");
  const { recogniserWeights } = await import("../server/recogniser-weights.ts");
  const weights = {
    dataDir: settings.dataDir,
    pull: false,
    signal: new AbortController().signal,
    observe: () => {},
  };
  return {
    writer: composeWriter(settings, {
      weights: (checkpoint) => pullWriter({ ...weights, checkpoint }),
      env: process.env,
    }),
    recogniser: composeRecogniser(settings, {
      weights: (checkpoint) => recogniserWeights({ ...weights, checkpoint }),
      env: process.env,
      maxS: Number.POSITIVE_INFINITY,
    }),
  };
}

/** Nobody is told of how it goes. */
const UNTOLD: Telemetry = {
  queued() {},
  firstToken() {},
  firstAudio() {},
  underrun() {},
  ended() {},
  heard() {},
  turnHeard() {},
  metered() {},
};

/** Nobody pays, and nobody counts. */
const KEY = "in-process";

class OpenAntiphon implements Antiphon {
  readonly #parts: Parts;
  readonly #closing = new AbortController();
  #reader: Promise<{ phonemes(text: string): Promise<string[]>; close(): Promise<void> }> | null = null;
  #closed: Promise<void> | null = null;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  static async open(settings: Settings): Promise<OpenAntiphon> {
    const words = await serverLexicon(settings);
    const { local, models } = await localModels(settings, { words });
    const serverVoices = await readServerVoices(settings, models);
    const remotes = remoteCheckpoints(settings, { env: process.env });
    const voice = embeddedVoice({ threads: workerCount(settings), words });
    const catalogue = createCatalogue({
      // Whoever opens it to transcribe needs no voice.
      models: models.map((model) => ({ ...model, isResident: false })),
      checkpoints: [voice, ...remotes, ...local],
      memoryBudgetBytes: settings.memoryBudgetMb > 0 ? settings.memoryBudgetMb * 2 ** 20 : null,
    });
    const limits = serverLimits(settings);
    const { writing, hearingTurns } = createSemaphores(limits.shared);
    const { writer, recogniser } = await writerAndRecogniser(settings);
    const hearing =
      recogniser === null
        ? null
        : new HistoryTranscriber(new ClipTranscriber(recogniser, hearingTurns), {
            use: settings.recogniser.use,
            onTurn() {},
          });
    const service = new SpeechService(
      {
        lease: (model, signal) => catalogue.lease(model, signal),
        writer,
        ...(hearing === null ? {} : { hearing }),
        ownVoices: recordedVoices(serverVoices),
        writing,
        meter: async () => {},
        telemetry: UNTOLD,
      },
      {
        ...limits.speaking,
        frameTimeoutMs: settings.generationTimeoutMs,
        loadTimeoutMs: settings.loadTimeoutMs,
        maxAheadS: settings.maxAheadS,
        ownSlots: new Map(local.map(slotsOf)),
      },
    );
    return new OpenAntiphon({ settings, models, catalogue, service, writer, recogniser });
  }

  say(text: string, { voice, instructions, model, params, signal }: SayOptions = {}): Speech {
    const asked = {
      ...(voice === undefined ? {} : { voice }),
      ...(model === undefined ? {} : { model }),
      ...(params === undefined ? {} : { params }),
    };
    const prepared = (part: string): Prepared => {
      const manner = readInstructions(instructions)?.asked;
      const isCapped = (params as { max_new_tokens?: unknown } | undefined)?.max_new_tokens != null;
      return prepareTts(parseTtsRequest({ text: part, ...asked }), this.#resolve, {
        ...(manner === undefined ? {} : { manner }),
        ...(isCapped ? {} : { maxFrames: MAX_SPEECH_FRAMES }),
      });
    };
    if (text.length <= MAX_TEXT_CHARS) return this.#speech([{ prepare: () => prepared(text) }], signal);
    return this.#speech(partsOf(text, prepared), signal, text);
  }

  converse(
    conversation: readonly Turn[],
    { voices, instructions, model, params, signal }: ConverseOptions = {},
  ): Speech {
    const prepare = (): Prepared => {
      const turns = conversation.map(({ audio, ...turn }) => ({
        ...turn,
        ...(audio === undefined ? {} : { audio_wav_b64: Buffer.from(audio).toString("base64") }),
      }));
      const body = {
        conversation: turns,
        ...(voices === undefined ? {} : { voices }),
        ...(instructions === undefined ? {} : { instructions }),
        ...(model === undefined ? {} : { model }),
        ...(params === undefined ? {} : { params }),
      };
      return prepareConverse(parseConverseRequest(body), this.#resolve);
    };
    return this.#speech([{ prepare }], signal);
  }

  async transcribe(
    recording: string | Uint8Array,
    { language, words = false, signal }: TranscribeOptions = {},
  ): Promise<Transcript> {
    const { recogniser } = this.#parts;
    const { transcribed } = await import("./transcribed.ts");
    const both = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      both.throwIfAborted();
      return await transcribed(recording, recogniser, { language, words }, both);
    } catch (error) {
      signal?.throwIfAborted();
      throw asAntiphonError(error);
    }
  }

  async phonemes(text: string): Promise<string[]> {
    this.#requireOpen();
    this.#reader ??= (async () => {
      const { openSpokenPhonemes } = await import("../planning/read-text.ts");
      return await openSpokenPhonemes(embeddedCheckpoint.dir, {
        words: await serverLexicon(this.#parts.settings),
      });
    })();
    return await (await this.#reader).phonemes(text);
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#closing.abort(closedError());
      const { service, catalogue, writer, recogniser } = this.#parts;
      await service.drain(0);
      const reader = await this.#reader?.catch(() => null);
      await Promise.all([reader?.close(), catalogue.close(), writer?.close(), recogniser?.close()]);
    })();
    return this.#closed;
  }

  readonly #resolve = (id: string | null): PublicModel | undefined => findModel(this.#parts.models, id);

  #speech(
    parts: Iterable<SpeechPart> | AsyncIterable<SpeechPart>,
    signal?: AbortSignal,
    whole?: string,
  ): Speech {
    this.#requireOpen();
    const { service } = this.#parts;
    return speechOf({
      parts,
      speak: (prepared, until) =>
        service.converse(prepared, {
          keyId: KEY,
          signal: until,
          span: NO_SPAN,
          encoding: "pcm",
          takesAudioAsItComes: true,
          isPlayed: false,
        }),
      signal: signal ?? null,
      closing: this.#closing.signal,
      whole: whole ?? null,
    });
  }

  #requireOpen(): void {
    if (this.#closing.signal.aborted) throw closedError();
  }
}

async function* partsOf(
  text: string,
  prepare: (part: string) => Prepared,
): AsyncGenerator<SpeechPart, void, void> {
  const passages = looksLikeSsml(text) ? ssmlPassages(text) : passagesIn(onePiece(text), "plain");
  for await (const passage of passages) yield { prepare: () => prepare(passage.text) };
}

async function* onePiece(text: string): AsyncGenerator<string, void, void> {
  yield text;
}

/** Voices of the setting `voices`; there is no key that could have others. */
function recordedVoices(voices: ReadonlyMap<string, VoiceSample>) {
  return {
    async chosen(
      asked: Parameters<typeof unknownVoice>[0],
      _keyId: string,
      cast: Parameters<typeof unknownVoice>[1],
    ): Promise<ChosenVoice> {
      const sample = await recordingNamed(asked.name, voices, async () => null);
      if (sample === null) throw unknownVoice(asked, cast, [...voices.keys()]);
      return [{ weight: 1, sample }];
    },
    async check(): Promise<void> {},
  };
}
