import type { Recogniser } from "../core/recogniser.ts";
import type { ChosenVoice, VoiceSample } from "../core/script.ts";
import type { Writer } from "../core/writer.ts";
import { createSemaphores, serverLimits } from "../limits/server-limits.ts";
import { type Catalogue, createCatalogue } from "../models/catalogue.ts";
import type { PublicModel } from "../models/public-models.ts";
import { composeRecogniser } from "../server/recogniser/compose-recogniser.ts";
import { embeddedVoice } from "../server/voices/embedded-voice.ts";
import { serverLexicon } from "../server/voices/lexicon-file.ts";
import { slotsOf } from "../server/voices/local-checkpoint.ts";
import { localModels } from "../server/voices/local-models.ts";
import { remoteCheckpoints } from "../server/voices/remote-checkpoints.ts";
import { readServerVoices } from "../server/voices/server-voices.ts";
import { unknownVoice } from "../serving/prepare/choose-voice.ts";
import { SpeechService } from "../serving/reply/speech-service.ts";
import type { Telemetry } from "../serving/telemetry.ts";
import { ClipTranscriber } from "../serving/transcribe/clip-transcriber.ts";
import { HistoryTranscriber } from "../serving/transcribe/history-transcriber.ts";
import { findRecording } from "../serving/voices/custom-voices.ts";
import type { Settings } from "../settings/schema.ts";
import { DeferredWriter } from "../writers/deferred-writer.ts";

/** Parts of an open Antiphon. */
export interface Parts {
  readonly settings: Settings;
  readonly models: readonly PublicModel[];
  readonly catalogue: Catalogue;
  readonly service: SpeechService;
  readonly writer: Writer | null;
  readonly recogniser: Recogniser | null;
}

/** Returns installed weights; downloads nothing. */
function weightsOf({ dataDir }: Settings) {
  return { dataDir, pull: false, signal: new AbortController().signal, observe: () => {} };
}

/** Returns the configured writer, which is loaded with its code by the first turn that needs it; `null` for none. */
async function writerOf(settings: Settings): Promise<Writer | null> {
  const { kind } = settings.writer;
  if (kind === "none") return null;
  const compose = async (): Promise<Writer | null> => {
    const { composeWriter } = await import("../server/writer/compose-writer.ts");
    const { pullWriter } = await import("../server/writer/writer-weights.ts");
    const weights = (checkpoint: string) => pullWriter({ ...weightsOf(settings), checkpoint });
    return composeWriter(settings, { weights, env: process.env });
  };
  // Other directories may be missing; `open` reports them.
  if (kind !== "embedded") return await compose();
  return new DeferredWriter("the writer", async () => (await compose())!);
}

/** Returns the configured recogniser, which is loaded by the first recording; `null` for none. */
function recogniserOf(settings: Settings): Recogniser | null {
  return composeRecogniser(settings, {
    async weights(checkpoint) {
      const { recogniserWeights } = await import("../server/recogniser/recogniser-weights.ts");
      return await recogniserWeights({ ...weightsOf(settings), checkpoint });
    },
    env: process.env,
    maxS: Number.POSITIVE_INFINITY,
  });
}

/** Discards all measurements. */
const NO_TELEMETRY: Telemetry = {
  queued() {},
  firstToken() {},
  firstAudio() {},
  underrun() {},
  ended() {},
  transcribed() {},
  turnTranscribed() {},
  metered() {},
};

/**
 * Creates the models, the writer and the recogniser of the settings. Loads nothing before it is needed and downloads
 * nothing.
 */
export async function openParts(given: Settings): Promise<Parts> {
  // One thread is faster than real time; more would only cost memory.
  const settings = { ...given, workers: given.workers || 1 };
  const words = await serverLexicon(settings);
  const { local, models } = await localModels(settings, { words });
  const serverVoices = await readServerVoices(settings, models);
  const remotes = remoteCheckpoints(settings, { env: process.env });
  const voice = embeddedVoice({ threads: settings.workers, precision: settings.voicePrecision, words });
  const catalogue = createCatalogue({
    // Transcribing alone needs no voice.
    models: models.map((model) => ({ ...model, isResident: false })),
    checkpoints: [voice, ...remotes, ...local],
    memoryBudgetBytes: settings.memoryBudgetMb > 0 ? settings.memoryBudgetMb * 2 ** 20 : null,
  });
  const limits = serverLimits(settings);
  const { writing, hearingTurns } = createSemaphores(limits.shared);
  const writer = await writerOf(settings);
  const recogniser = recogniserOf(settings);
  const historyTranscriber =
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
      ...(historyTranscriber === null ? {} : { historyTranscriber }),
      customVoices: recordedVoices(serverVoices),
      writing,
      meter: async () => {},
      telemetry: NO_TELEMETRY,
    },
    {
      ...limits.speaking,
      frameTimeoutMs: settings.generationTimeoutMs,
      loadTimeoutMs: settings.loadTimeoutMs,
      maxAheadS: settings.maxAheadS,
      checkpointSlots: new Map(local.map(slotsOf)),
    },
  );
  return { settings, models, catalogue, service, writer, recogniser };
}

/** Returns a finder of the voices in the setting `voices`; without keys there are no others. */
function recordedVoices(voices: ReadonlyMap<string, VoiceSample>) {
  return {
    async find(
      asked: Parameters<typeof unknownVoice>[0],
      _keyId: string,
      cast: Parameters<typeof unknownVoice>[1],
    ): Promise<ChosenVoice> {
      const sample = await findRecording(asked.name, voices, async () => null);
      if (sample === null) throw unknownVoice(asked, cast, [...voices.keys()]);
      return [{ weight: 1, sample }];
    },
    async check(): Promise<void> {},
  };
}
