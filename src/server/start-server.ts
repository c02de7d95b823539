import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { type Catalogue, createCatalogue } from "../catalogue/catalogue.ts";
import { findModel, PUBLIC_MODELS, type PublicModel } from "../catalogue/public-models.ts";
import type { Checkpoint } from "../catalogue/residency.ts";
import { MAX_RECORDING_BYTES, MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import {
  MAX_INSTRUCTIONS_CHARS,
  MAX_NEW_TOKENS,
  MAX_SPEECH_CHARS,
  MAX_TEXT_CHARS,
  MAX_TURN_AUDIO_BYTES,
  MAX_TURNS,
  MIN_NEW_TOKENS,
} from "../contract/limits.ts";
import { DEFAULT_PARAMS, paramKnobs } from "../contract/params.ts";
import type { HttpDeps, ServiceInfo } from "../http/deps.ts";
import { createHttpServer, createMetricsServer } from "../http/server.ts";
import type { OwnPlaces } from "../limits/admissions.ts";
import { createSemaphores, type ServerLimits, serverLimits, workerCount } from "../limits/server-limits.ts";
import type { Recogniser } from "../model/recogniser.ts";
import type { Writer } from "../model/writer.ts";
import { createMetrics } from "../requests/metrics.ts";
import { wireCard } from "../serving/cards.ts";
import { ClipTranscriber } from "../serving/clip-transcriber.ts";
import { HistoryTranscriber } from "../serving/history-transcriber.ts";
import { Preparer } from "../serving/preparer.ts";
import { RecordingReader } from "../serving/recording-reader.ts";
import { RequestReader } from "../serving/request-reader.ts";
import { SpeechService } from "../serving/service.ts";
import { Transcriptions } from "../serving/transcriptions.ts";
import type { Settings } from "../settings/schema.ts";
import type { Tenancy } from "../tenancy/tenancy.ts";
import type { Bridge } from "../wyoming/bridge.ts";
import { composeWyoming } from "./compose-wyoming.ts";
import { asListenError } from "./listen-error.ts";
import { version } from "./version.ts";
import type { WyomingPlace } from "./wyoming-place.ts";

/** The page at `/`, as it lies beside the build. */
const PLAYGROUND = {
  page: fileURLToPath(new URL("../../../playground/", import.meta.url)),
  client: fileURLToPath(new URL("../client/", import.meta.url)),
  captions: fileURLToPath(new URL("../captions/", import.meta.url)),
  audio: fileURLToPath(new URL("../audio/", import.meta.url)),
};

/** What a server is put together from. It owns `tenancy` from now on. */
export interface ServerParts {
  readonly settings: Settings;
  readonly tenancy: Tenancy;
  /** What is offered; the models of the repository unless given. */
  readonly models?: readonly PublicModel[];
  /** What can be loaded, at least all that the public models name. */
  readonly checkpoints: readonly Checkpoint[];
  /** Of checkpoints that do not share the places of this machine, by their names; none unless given. */
  readonly ownPlaces?: ReadonlyMap<string, OwnPlaces>;
  readonly backend: { readonly name: string; readonly kind: string };
  /** Writes authored turns, which are refused without it. Owned too. */
  readonly writer?: Writer | null;
  /** Hears recordings, which are refused without it. Owned too. */
  readonly recogniser?: Recogniser | null;
  /** Whether what the recogniser takes is there by now; Wyoming's clients are told. True unless given. */
  readonly canHear?: () => boolean;
  /** Where Wyoming's clients are served; absent or null, they are not. */
  readonly wyoming?: WyomingPlace | null;
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
  /** `http://host:port`, with the port that was taken. */
  readonly url: string;
  /** Where /metrics is served alone, if it is. */
  readonly metricsUrl: string | null;
  /** Where Wyoming's clients are served, if they are: `tcp://host:port`. */
  readonly wyomingUrl: string | null;
  readonly catalogue: Catalogue;
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

/** Wires the whole service by hand, loads the resident models and listens. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { settings, tenancy, logger, models = PUBLIC_MODELS } = parts;
  const metrics = createMetrics(version());
  const catalogue = createCatalogue({
    models,
    checkpoints: parts.checkpoints,
    memoryBudgetBytes: settings.memoryBudgetMb > 0 ? settings.memoryBudgetMb * 2 ** 20 : null,
  });
  const limits = serverLimits(settings);
  const semaphores = createSemaphores(limits.shared);
  const { writing, hearingTurns, hearingRecordings, receiving, recorded, audio, reading, replies } =
    semaphores;
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
      writing,
      meter: (record) => tenancy.commit(record),
      telemetry: metrics.telemetry,
    },
    {
      ...limits.speaking,
      frameTimeoutMs: settings.generationTimeoutMs,
      loadTimeoutMs: settings.loadTimeoutMs,
      maxAheadS: settings.maxAheadS,
      ...(parts.ownPlaces === undefined ? {} : { ownPlaces: parts.ownPlaces }),
    },
  );
  const transcriptions = new Transcriptions({
    recogniser: parts.recogniser ?? null,
    places: hearingRecordings,
    audio,
    meter: (record) => tenancy.commit(record),
    telemetry: metrics.telemetry,
    timeoutMs: settings.requestTimeoutMs,
  });
  const recordings = new RecordingReader((error) =>
    logger.error({ cause: error.message }, "decoding thread"),
  );
  const preparer = new Preparer({
    models,
    onFailure: (error) => logger.error({ cause: error.message }, "preparing thread"),
  });
  const requestReader = new RequestReader({ preparer, recordings, receiving, recorded, audio, reading });
  metrics.watch({
    service,
    semaphores,
    speechThreads: () => parts.speechThreads?.() ?? workerCount(settings),
    residentModels: () => catalogue.resident().length,
    takesAlone: () => parts.takesAlone?.() ?? 0,
  });
  let ready = false;
  let isStopping = false;
  const entrance = { service, transcriptions, tenancy, requestReader, metrics, logger };
  const deps: HttpDeps = {
    ...entrance,
    replies,
    cards: () => catalogue.cards().map(wireCard),
    info: infoOf(parts, catalogue, limits),
    isReady: () => ready && (parts.canSpeak?.() ?? true) && tenancy.isWell(),
    isStopping: () => isStopping,
    options: {
      heartbeatMs: settings.heartbeatMs,
      stallTimeoutMs: settings.stallTimeoutMs,
      collectTimeoutMs: settings.requestTimeoutMs,
      streamPatienceMs: 3_000,
      headersTimeoutMs: settings.headersTimeoutMs,
      uploadTimeoutMs: settings.uploadTimeoutMs,
      bodyLimitBytes: settings.bodyLimitBytes,
      trustProxy: mutable(settings.trustProxy),
      keylessLists: settings.keylessLists,
      corsOrigins: settings.corsOrigins,
      playground: settings.playground.enabled ? PLAYGROUND : null,
      serveMetrics: settings.metrics.enabled && settings.metrics.port === undefined,
    },
  };
  const apps: HttpServer[] = [];
  let bridge: Bridge | null = null;
  const stop = async () => {
    ready = false;
    isStopping = true;
    const bridgeOver = bridge?.finish();
    const closing = [...apps.map((app) => app.close()), bridgeOver];
    // A client that reads nothing would otherwise hold its stream, and the stop, for as long as it likes.
    const cut = () => {
      cutConnections(apps);
      bridge?.cut();
    };
    const overdue = setTimeout(cut, settings.shutdownGraceMs + LINGER_MS);
    requestReader.close();
    replies.close();
    const graceOver = new Promise((resolve) => setTimeout(resolve, settings.shutdownGraceMs).unref());
    const { shutdownGraceMs } = settings;
    await Promise.all([service.drain(shutdownGraceMs), transcriptions.drain(shutdownGraceMs)]);
    // What is spoken has yet to be read.
    await Promise.race([
      Promise.all([...apps.map(({ connections }) => connections.idle()), bridgeOver]),
      graceOver,
    ]);
    clearTimeout(overdue);
    // Connections that do not end with their last response are cut too.
    setTimeout(cut, LINGER_MS).unref();
    await Promise.all(closing);
    await Promise.all([preparer.close(), recordings.close()]);
    await catalogue.close();
    await parts.writer?.close();
    await parts.recogniser?.close();
    await tenancy.close();
  };
  try {
    await catalogue.warm();
    const app = createHttpServer(deps);
    apps.push(app);
    const url = await app.listen({ host: settings.host, port: settings.port });
    const metricsUrl = await listenForMetrics(deps, settings, apps);
    if (parts.wyoming) {
      const resolve = (id: string | null) => findModel(models, id);
      const canHear = () => parts.canHear?.() ?? true;
      bridge = await composeWyoming(parts.wyoming, {
        ...entrance,
        resolve,
        recogniserName: () => (canHear() ? transcriptions.recogniserName : null),
        stallTimeoutMs: settings.stallTimeoutMs,
        queueWaitMs: settings.queueWaitMs,
      });
    }
    ready = true;
    const wyomingUrl = bridge?.url ?? null;
    return {
      url,
      metricsUrl,
      wyomingUrl,
      catalogue,
      isSpeaking: () => service.active + service.paused > 0,
      async drain(hurry) {
        ready = false;
        isStopping = true;
        await pause(settings.drainDelayMs, null, { signal: hurry }).catch(() => {});
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw asListenError(error);
  }
}

type HttpServer = ReturnType<typeof createHttpServer>;

/** How long a connection may take over its last response once the server stops. */
const LINGER_MS = 1_000;

function cutConnections(apps: readonly HttpServer[]): void {
  for (const app of apps) app.server.closeAllConnections();
}

async function listenForMetrics(
  deps: HttpDeps,
  settings: Settings,
  apps: HttpServer[],
): Promise<string | null> {
  const { enabled, host, port } = settings.metrics;
  if (!enabled || port === undefined) return null;
  const app = createMetricsServer(deps);
  apps.push(app);
  return `${await app.listen({ host, port })}/metrics`;
}

function infoOf({ settings, backend }: ServerParts, catalogue: Catalogue, limits: ServerLimits): ServiceInfo {
  const { speaking, shared } = limits;
  return {
    backend: { ...backend, sample_rate: SAMPLE_RATE_HZ },
    defaults: DEFAULT_PARAMS,
    limits: {
      max_text_chars: MAX_TEXT_CHARS,
      max_speech_chars: MAX_SPEECH_CHARS,
      max_instructions_chars: MAX_INSTRUCTIONS_CHARS,
      max_turns: MAX_TURNS,
      max_turn_audio_bytes: MAX_TURN_AUDIO_BYTES,
      max_recording_bytes: MAX_RECORDING_BYTES,
      max_recording_seconds: MAX_RECORDING_S,
      max_body_bytes: settings.bodyLimitBytes,
      min_new_tokens: MIN_NEW_TOKENS,
      max_new_tokens: MAX_NEW_TOKENS,
      max_ahead_seconds: settings.maxAheadS,
      key_max_utterances: speaking.keyConcurrency,
      key_max_waiting: speaking.keyQueueDepth,
      key_max_writing: shared.writing.perKey,
      key_max_hearing_recordings: shared.hearingRecordings.perKey,
      key_max_receiving_bytes: shared.receiving.perKey,
      key_max_audio_bytes: shared.audio.perKey,
      key_max_reply_bytes: shared.replies.perKey,
    },
    param_schema: paramKnobs(catalogue.unusedKnobs()),
  };
}

function mutable(trust: Settings["trustProxy"]): boolean | string[] {
  return typeof trust === "boolean" ? trust : Object.values(trust);
}
