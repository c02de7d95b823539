import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Tenancy } from "../accounts/tenancy.ts";
import type { HttpDeps } from "../api/http/http-deps.ts";
import { createHttpServer, createMetricsServer } from "../api/http/server.ts";
import { ClientSecrets } from "../api/realtime/client-secrets.ts";
import type { ModelVoice } from "../core/model-card.ts";
import type { Recogniser } from "../core/recogniser.ts";
import type { VoiceSample } from "../core/script.ts";
import type { Writer } from "../core/writer.ts";
import type { CheckpointSlotOptions } from "../limits/checkpoint-slots.ts";
import { EventLoopShare } from "../limits/event-loop-budget.ts";
import type { KeyedSemaphore } from "../limits/keyed-semaphore.ts";
import { createSemaphores, type ServerLimits, serverLimits, workerCount } from "../limits/server-limits.ts";
import { type Catalogue, createCatalogue } from "../models/catalogue.ts";
import type { LoadableCheckpoint } from "../models/checkpoint-cache.ts";
import { findModel, PUBLIC_MODELS, type PublicModel } from "../models/public-models.ts";
import { levelDetector, pauseJudge } from "../recognition/turn-detection/level-detector.ts";
import type { NeuralDetector } from "../recognition/turn-detection/neural-detector.ts";
import { createMetrics, type Metrics } from "../requests/metrics.ts";
import { RecordingReader } from "../serving/prepare/recording-reader.ts";
import { RequestParser } from "../serving/prepare/request-parser.ts";
import { RequestReader } from "../serving/prepare/request-reader.ts";
import { SpeechService } from "../serving/reply/speech-service.ts";
import { ClipTranscriber } from "../serving/transcribe/clip-transcriber.ts";
import { HistoryTranscriber } from "../serving/transcribe/history-transcriber.ts";
import { Transcriptions } from "../serving/transcribe/transcriptions.ts";
import { VoiceCreator } from "../serving/voices/create-voice.ts";
import { CustomVoices } from "../serving/voices/custom-voices.ts";
import { fetchRemoteVoices, wireCard } from "../serving/voices/voice-list.ts";
import type { Settings } from "../settings/schema.ts";
import { composeWyoming, type WyomingPlace } from "./compose-wyoming.ts";
import { isSmallTalk } from "./endpoint-settings.ts";
import { httpOptions, serviceInfo } from "./http-options.ts";
import { closeListeners, type Listener, listenHttp, wyomingListener } from "./listeners.ts";
import { version } from "./version.ts";
import { decodeVoice, judgeClip } from "./voices/voice-audio.ts";

/** Parts of a server, which takes ownership of `tenancy`, `writer`, `recogniser` and `detector`. */
export interface ServerParts {
  readonly settings: Settings;
  readonly tenancy: Tenancy;
  /** Default: the models of the package. */
  readonly models?: readonly PublicModel[];
  /** Checkpoints that can be loaded; at least those of the models. */
  readonly checkpoints: readonly LoadableCheckpoint[];
  /** Slots of checkpoints that do not share this machine's, by checkpoint. */
  readonly checkpointSlots?: ReadonlyMap<string, CheckpointSlotOptions>;
  readonly backend: { readonly name: string; readonly kind: string };
  /** Writes authored turns; without it they are refused. */
  readonly writer?: Writer | null;
  /** Transcribes recordings; without it they are refused. */
  readonly recogniser?: Recogniser | null;
  /** Detects speech and ends of turns in realtime sessions. Default: by level alone. */
  readonly detector?: NeuralDetector;
  /** Recorded voices that every key may use, by name. */
  readonly serverVoices?: ReadonlyMap<string, VoiceSample>;
  /** List the voices of remote checkpoints, by checkpoint. */
  readonly remoteVoices?: ReadonlyMap<string, () => Promise<readonly ModelVoice[]>>;
  /** Whether the recogniser's weights are installed or awaited; reported to Wyoming clients. Default: true. */
  readonly canHear?: () => Promise<boolean>;
  readonly wyoming?: WyomingPlace | null;
  /** Tokens that Twilio signs telephone streams with. Without any, signatures are not checked. */
  readonly twilioAuthTokens?: readonly string[];
  /** Number of threads that can speak. Default: as configured. */
  readonly speechThreads?: () => number;
  /** Whether any thread can speak; reported by `/health`. Default: true. */
  readonly canSpeak?: () => boolean;
  /** Number of times the shared buckets did not answer; reported by `/metrics`. */
  readonly takesAlone?: () => number;
  readonly logger: Logger;
}

export interface RunningServer {
  /** `http://host:port` (`https` with a certificate), with the actual port. */
  readonly url: string;
  /** Separate address of `/metrics`, if any. */
  readonly metricsUrl: string | null;
  /** `tcp://host:port` of the Wyoming bridge, if any. */
  readonly wyomingUrl: string | null;
  readonly catalogue: Catalogue;
  /**
   * Creates a secret that opens realtime sessions with this key, or the oldest one, for `seconds`; `null` for an unknown
   * key or without realtime.
   */
  clientSecret(apiKey: string | null, seconds: number): Promise<string | null>;
  /** Whether any utterance is open. */
  isSpeaking(): boolean;
  /**
   * Makes `/ready` fail and keeps serving for the drain delay, so that load balancers notice. Resolves then, or when
   * `hurry` aborts.
   */
  drain(hurry: AbortSignal): Promise<void>;
  /** Finishes current speech within the grace period and frees everything. */
  stop(): Promise<void>;
}

/** Creates the services behind the requests. Loads nothing and opens no port. */
function createServices(parts: ServerParts) {
  const { settings, tenancy, logger, models = PUBLIC_MODELS } = parts;
  const metrics = createMetrics(version());
  const catalogue = createCatalogue({
    models,
    checkpoints: parts.checkpoints,
    memoryBudgetBytes: settings.memoryBudgetMb > 0 ? settings.memoryBudgetMb * 2 ** 20 : null,
  });
  const limits = serverLimits(settings);
  const semaphores = createSemaphores(limits.shared);
  const { hearingTurns, receiving, recorded, audio, reading } = semaphores;
  const recordings = new RecordingReader((error) =>
    logger.error({ cause: error.message }, "decoding thread"),
  );
  const customVoices = new CustomVoices({
    store: tenancy.voices,
    cards: () => catalogue.cards(),
    remoteVoices: () => fetchRemoteVoices(models, parts.remoteVoices ?? new Map()),
    serverVoices: parts.serverVoices ?? new Map(),
    decode: (bytes, voiceId) => decodeVoice(recordings, bytes, voiceId),
  });
  const service = new SpeechService(
    {
      lease: (model, signal) => catalogue.lease(model, signal),
      writer: parts.writer ?? null,
      ...createHistoryTranscriber(parts, hearingTurns, metrics),
      customVoices,
      writing: semaphores.writing,
      meter: (record) => tenancy.commit(record),
      telemetry: metrics.telemetry,
    },
    speechOptions(parts, limits),
  );
  const transcriptions = new Transcriptions({
    recogniser: parts.recogniser ?? null,
    places: semaphores.hearingRecordings,
    audio,
    meter: (record) => tenancy.commit(record),
    telemetry: metrics.telemetry,
    timeoutMs: settings.requestTimeoutMs,
  });
  const parser = new RequestParser({
    models,
    onFailure: (error) => logger.error({ cause: error.message }, "preparing thread"),
  });
  const requestReader = new RequestReader({ parser, recordings, receiving, recorded, audio, reading });
  const newVoices = new VoiceCreator({
    voices: customVoices,
    requestReader,
    transcriptions,
    audio,
    judge: judgeClip,
  });
  metrics.watch({
    service,
    semaphores,
    speechThreads: () => parts.speechThreads?.() ?? workerCount(settings),
    residentModels: () => catalogue.resident().length,
    takesAlone: () => parts.takesAlone?.() ?? 0,
  });
  return {
    metrics,
    catalogue,
    limits,
    semaphores,
    recordings,
    customVoices,
    newVoices,
    service,
    transcriptions,
    parser,
    requestReader,
    resolve: (id: string | null) => findModel(models, id),
    eventLoopShare: new EventLoopShare(),
    detector: parts.detector ?? { activity: levelDetector(), judge: pauseJudge(), async close() {} },
  };
}

type Services = ReturnType<typeof createServices>;

function speechOptions({ settings, checkpointSlots }: ServerParts, { speaking }: ServerLimits) {
  return {
    ...speaking,
    frameTimeoutMs: settings.generationTimeoutMs,
    loadTimeoutMs: settings.loadTimeoutMs,
    maxAheadS: settings.maxAheadS,
    ...(checkpointSlots === undefined ? {} : { checkpointSlots }),
  };
}

function createHistoryTranscriber(
  { recogniser, settings, logger }: ServerParts,
  slots: KeyedSemaphore,
  { telemetry }: Metrics,
): { historyTranscriber?: HistoryTranscriber } {
  if (!recogniser) return {};
  const historyTranscriber = new HistoryTranscriber(new ClipTranscriber(recogniser, slots), {
    use: settings.recogniser.use,
    onTurn: (outcome, error) => {
      telemetry.turnTranscribed(outcome);
      if (error !== null) logger.warn({ cause: error.message }, "a turn was not transcribed");
    },
  });
  return { historyTranscriber };
}

function realtimeDeps(parts: ServerParts, services: Services): HttpDeps["realtime"] {
  const { realtime } = parts.settings;
  if (!realtime.enabled) return null;
  const { semaphores, detector, eventLoopShare, resolve } = services;
  return {
    activity: detector.activity,
    judge: detector.judge,
    recogniser: parts.recogniser ?? null,
    transcriptionSlots: semaphores.hearingSessions,
    writesAhead: isSmallTalk(parts.settings.writer),
    detectionSlots: semaphores.detecting,
    eventLoopShare,
    receiving: semaphores.receiving,
    resolve,
    newId: (prefix: string) => `${prefix}${randomBytes(12).toString("hex")}`,
    secrets: new ClientSecrets(),
    twilioAuthTokens: parts.twilioAuthTokens ?? [],
    maxSessions: realtime.sessions,
    maxSessionsPerKey: realtime.sessionsPerKey,
    idleTimeoutMs: realtime.idleTimeoutMs,
    maxSessionS: realtime.maxSessionS,
  };
}

/** Opens the ports of HTTP, metrics and Wyoming, and adds each to `listeners` once it listens. */
async function openListeners(parts: ServerParts, services: Services, deps: HttpDeps, listeners: Listener[]) {
  const { settings } = parts;
  const opened = async (opening: Promise<Listener>): Promise<string> => {
    listeners.push(await opening);
    return listeners.at(-1)!.url;
  };
  const openMetrics = async (): Promise<string | null> => {
    const { enabled, host, port } = settings.metrics;
    if (!enabled || port === undefined) return null;
    return `${await opened(listenHttp(createMetricsServer(deps), { host, port }))}/metrics`;
  };
  const openWyoming = async (): Promise<string | null> => {
    if (!parts.wyoming) return null;
    const { service, transcriptions, requestReader, metrics, customVoices, resolve, eventLoopShare } =
      services;
    const bridge = composeWyoming(parts.wyoming, {
      service,
      transcriptions,
      tenancy: parts.tenancy,
      requestReader,
      metrics,
      logger: parts.logger,
      customVoices,
      resolve,
      recogniserName: async () =>
        ((await parts.canHear?.()) ?? true) ? transcriptions.recogniserName : null,
      eventLoopShare,
      stallTimeoutMs: settings.stallTimeoutMs,
      queueWaitMs: settings.queueWaitMs,
    });
    return opened(bridge.then(wyomingListener));
  };
  return {
    url: await opened(listenHttp(createHttpServer(deps), settings)),
    metricsUrl: await openMetrics(),
    wyomingUrl: await openWyoming(),
  };
}

/** Wires the whole service, loads the resident models and listens. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, tenancy, logger } = parts;
  const services = createServices(parts);
  const { catalogue, service, transcriptions, requestReader } = services;
  const { replies } = services.semaphores;
  const realtime = realtimeDeps(parts, services);
  let isReady = false;
  let isStopping = false;
  const deps: HttpDeps = {
    service,
    transcriptions,
    tenancy,
    requestReader,
    metrics: services.metrics,
    logger,
    replies,
    cards: () => catalogue.cards().map(wireCard),
    customVoices: services.customVoices,
    newVoices: services.newVoices,
    info: serviceInfo(parts, catalogue, services.limits),
    isReady: () => isReady && (parts.canSpeak?.() ?? true) && tenancy.isWell(),
    isStopping: () => isStopping,
    options: httpOptions(settings),
    realtime,
  };
  const listeners: Listener[] = [];
  const stop = async () => {
    isReady = false;
    isStopping = true;
    const { shutdownGraceMs } = settings;
    await closeListeners(listeners, shutdownGraceMs, () => {
      requestReader.close();
      replies.close();
      return Promise.all([service.drain(shutdownGraceMs), transcriptions.drain(shutdownGraceMs)]);
    });
    const { parser, recordings, detector } = services;
    await Promise.all([parser.close(), recordings.close(), detector.close()]);
    await catalogue.close();
    await parts.writer?.close();
    await parts.recogniser?.close();
    await tenancy.close();
  };
  try {
    await catalogue.warm();
    const urls = await openListeners(parts, services, deps, listeners);
    isReady = true;
    return {
      ...urls,
      catalogue,
      async clientSecret(apiKey, seconds) {
        if (realtime === null) return null;
        const key = apiKey ?? (await tenancy.temporaryKey()) ?? "";
        if ((await tenancy.authenticate(key)) === null) return null;
        return realtime.secrets.issue(key, seconds, {}).value;
      },
      isSpeaking: () => service.active + service.paused > 0,
      async drain(hurry) {
        isReady = false;
        isStopping = true;
        await pause(settings.drainDelayMs, null, { signal: hurry }).catch(() => {});
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
