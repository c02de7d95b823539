import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import type { Tenancy } from "../accounts/tenancy.ts";
import type { HttpDeps } from "../api/http/deps.ts";
import { createHttpServer, createMetricsServer } from "../api/http/server.ts";
import { ClientSecrets } from "../api/realtime/client-secrets.ts";
import type { ModelVoice } from "../core/model-card.ts";
import type { Recogniser } from "../core/recogniser.ts";
import type { VoiceSample } from "../core/script.ts";
import type { Writer } from "../core/writer.ts";
import type { OwnSlots } from "../limits/checkpoint-slots.ts";
import { EventLoopShare } from "../limits/event-loop-budget.ts";
import { createSemaphores, serverLimits, workerCount } from "../limits/server-limits.ts";
import { type Catalogue, createCatalogue } from "../models/catalogue.ts";
import { findModel, PUBLIC_MODELS, type PublicModel } from "../models/public-models.ts";
import type { Checkpoint } from "../models/residency.ts";
import { levelDetector, pauseJudge } from "../recognition/turn-detection/level-detector.ts";
import type { NeuralDetector } from "../recognition/turn-detection/neural-detector.ts";
import { createMetrics } from "../requests/metrics.ts";
import { Preparer } from "../serving/prepare/preparer.ts";
import { RecordingReader } from "../serving/prepare/recording-reader.ts";
import { RequestReader } from "../serving/prepare/request-reader.ts";
import { SpeechService } from "../serving/reply/speech-service.ts";
import { ClipTranscriber } from "../serving/transcribe/clip-transcriber.ts";
import { HistoryTranscriber } from "../serving/transcribe/history-transcriber.ts";
import { Transcriptions } from "../serving/transcribe/transcriptions.ts";
import { wireCard } from "../serving/voices/cards.ts";
import { NewVoices } from "../serving/voices/create-voice.ts";
import { OwnVoices } from "../serving/voices/custom-voices.ts";
import { voicesElsewhere } from "../serving/voices/voice-list.ts";
import type { Settings } from "../settings/schema.ts";
import { composeWyoming, type WyomingPlace } from "./compose-wyoming.ts";
import { httpOptions, serviceInfo } from "./http-options.ts";
import { closeListeners, type Listener, listenHttp, wyomingListener } from "./listeners.ts";
import { version } from "./version.ts";
import { decodeVoice, judgeClip } from "./voices/voice-audio.ts";

/** What a server is put together from. It owns `tenancy` from now on. */
export interface ServerParts {
  readonly settings: Settings;
  readonly tenancy: Tenancy;
  /** What is offered; the models of the repository unless given. */
  readonly models?: readonly PublicModel[];
  /** What can be loaded, at least all that the public models name. */
  readonly checkpoints: readonly Checkpoint[];
  /** Of checkpoints that do not share the places of this machine, by their names; none unless given. */
  readonly ownSlots?: ReadonlyMap<string, OwnSlots>;
  readonly backend: { readonly name: string; readonly kind: string };
  /** Writes authored turns, which are refused without it. Owned too. */
  readonly writer?: Writer | null;
  /** Hears recordings, which are refused without it. Owned too. */
  readonly recogniser?: Recogniser | null;
  /** Finds speech and the ends of turns in realtime sessions; by the level alone unless given. Owned too. */
  readonly detector?: NeuralDetector;
  /** Voices by a recording that every key may use, by their names; none unless given. */
  readonly serverVoices?: ReadonlyMap<string, VoiceSample>;
  /** How the voices of checkpoints that compute elsewhere are asked for, by the checkpoints' names; none are unless given. */
  readonly remoteVoices?: ReadonlyMap<string, () => Promise<readonly ModelVoice[]>>;
  /** Whether what the recogniser takes is there by now; Wyoming's clients are told. True unless given. */
  readonly canHear?: () => boolean;
  /** Where Wyoming's clients are served; absent or null, they are not. */
  readonly wyoming?: WyomingPlace | null;
  /** Tokens that Twilio signs telephone streams with. By default none, and no signature is asked for. */
  readonly twilioAuthTokens?: readonly string[];
  /** Threads that can speak; as many as the settings say unless given. */
  readonly speechThreads?: () => number;
  /** Whether anything is left that can speak; `/health` tells. True unless given. */
  readonly canSpeak?: () => boolean;
  /** Takes of tokens that the shared buckets did not answer; `/metrics` tells. None unless given. */
  readonly takesAlone?: () => number;
  readonly logger: Logger;
}

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, with the port that was taken; `https` with a certificate. */
  readonly url: string;
  /** Where /metrics is served alone, if it is. */
  readonly metricsUrl: string | null;
  /** Where Wyoming's clients are served, if they are: `tcp://host:port`. */
  readonly wyomingUrl: string | null;
  readonly catalogue: Catalogue;
  /** A secret that opens realtime sessions by that key for `seconds`; null where the key is none, or nothing is to be opened. */
  clientSecret(apiKey: string, seconds: number): Promise<string | null>;
  /** Whether anybody is spoken to just now. */
  isSpeaking(): boolean;
  /**
   * Has `/ready` fail from now on, and goes on serving for the drain delay of the settings, so that whoever sends traffic
   * here can notice and stop. Resolves then, or when `hurry` aborts.
   */
  drain(hurry: AbortSignal): Promise<void>;
  /** Finishes what is being spoken, within the grace of the settings, and frees everything. */
  stop(): Promise<void>;
}

/** Builds what requests use, by hand. Loads nothing and listens nowhere. */
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
  const ownVoices = new OwnVoices({
    store: tenancy.voices,
    cards: () => catalogue.cards(),
    elsewhere: () => voicesElsewhere(models, parts.remoteVoices ?? new Map()),
    serverVoices: parts.serverVoices ?? new Map(),
    decode: (bytes, voiceId) => decodeVoice(recordings, bytes, voiceId),
  });
  const service = new SpeechService(
    {
      lease: (model, signal) => catalogue.lease(model, signal),
      writer: parts.writer ?? null,
      ...(parts.recogniser
        ? {
            hearing: new HistoryTranscriber(new ClipTranscriber(parts.recogniser, hearingTurns), {
              use: settings.recogniser.use,
              onTurn: (outcome, error) => {
                metrics.telemetry.turnHeard(outcome);
                if (error !== null) logger.warn({ cause: error.message }, "a turn was not heard");
              },
            }),
          }
        : {}),
      ownVoices,
      writing: semaphores.writing,
      meter: (record) => tenancy.commit(record),
      telemetry: metrics.telemetry,
    },
    {
      ...limits.speaking,
      frameTimeoutMs: settings.generationTimeoutMs,
      loadTimeoutMs: settings.loadTimeoutMs,
      maxAheadS: settings.maxAheadS,
      ...(parts.ownSlots === undefined ? {} : { ownSlots: parts.ownSlots }),
    },
  );
  const transcriptions = new Transcriptions({
    recogniser: parts.recogniser ?? null,
    places: semaphores.hearingRecordings,
    audio,
    meter: (record) => tenancy.commit(record),
    telemetry: metrics.telemetry,
    timeoutMs: settings.requestTimeoutMs,
  });
  const preparer = new Preparer({
    models,
    onFailure: (error) => logger.error({ cause: error.message }, "preparing thread"),
  });
  const requestReader = new RequestReader({ preparer, recordings, receiving, recorded, audio, reading });
  const newVoices = new NewVoices({
    voices: ownVoices,
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
    ownVoices,
    newVoices,
    service,
    transcriptions,
    preparer,
    requestReader,
    resolve: (id: string | null) => findModel(models, id),
    eventLoopShare: new EventLoopShare(),
    detector: parts.detector ?? { activity: levelDetector(), judge: pauseJudge(), async close() {} },
  };
}

type Services = ReturnType<typeof createServices>;

function realtimeDeps(parts: ServerParts, services: Services): HttpDeps["realtime"] {
  const { realtime } = parts.settings;
  if (!realtime.enabled) return null;
  const { semaphores, detector, eventLoopShare, resolve } = services;
  return {
    activity: detector.activity,
    judge: detector.judge,
    recogniser: parts.recogniser ?? null,
    transcriptionSlots: semaphores.hearingTurns,
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
    const { service, transcriptions, requestReader, metrics, ownVoices, resolve, eventLoopShare } = services;
    const canHear = () => parts.canHear?.() ?? true;
    const bridge = composeWyoming(parts.wyoming, {
      service,
      transcriptions,
      tenancy: parts.tenancy,
      requestReader,
      metrics,
      logger: parts.logger,
      ownVoices,
      resolve,
      recogniserName: () => (canHear() ? transcriptions.recogniserName : null),
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
    ownVoices: services.ownVoices,
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
    const { preparer, recordings, detector } = services;
    await Promise.all([preparer.close(), recordings.close(), detector.close()]);
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
        if (realtime === null || (await tenancy.authenticate(apiKey)) === null) return null;
        return realtime.secrets.issue(apiKey, seconds, {}).value;
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
