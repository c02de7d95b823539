import type { Logger } from "pino";
import { openBuckets, openTenancy } from "../accounts/open.ts";
import type { Tenancy } from "../accounts/tenancy.ts";
import { MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import type { Lexicon } from "../core/script.ts";
import type { CheckpointSlotOptions } from "../limits/checkpoint-slots.ts";
import type { PullProgress } from "../models/download/options.ts";
import type { PublicModel } from "../models/public-models.ts";
import { openNeuralDetector } from "../recognition/turn-detection/neural-detector.ts";
import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";
import { detectLanguage } from "../text/detect-language.ts";
import { wyomingPlace } from "./compose-wyoming.ts";
import { messageWithCauses } from "./errors.ts";
import { composeRecogniser } from "./recogniser/compose-recogniser.ts";
import { recogniserWeights } from "./recogniser/recogniser-weights.ts";
import { reportSharing } from "./report-sharing.ts";
import { bucketsUrl, storeUrl as storeUrlOf, twilioAuthTokens } from "./secret.ts";
import type { RunningServer, ServerParts } from "./start-server.ts";
import type { EmbeddedCheckpoint } from "./voices/embedded-voice.ts";
import { type LocalCheckpoint, slotsOf } from "./voices/local-checkpoint.ts";
import { localModels } from "./voices/local-models.ts";
import { remoteCheckpoints } from "./voices/remote-checkpoints.ts";
import { readServerVoices, takenNamesWarning, voiceWarnings } from "./voices/server-voices.ts";
import { pulledOnce } from "./weights-pull.ts";
import { composeWriter } from "./writer/compose-writer.ts";
import { pullWriter } from "./writer/writer-weights.ts";

/** What a server needs from its process. */
export interface ServerEnvironment {
  readonly env: Environment;
  readonly logger: Logger;
  /** Directory of keys and usage. Default: the settings' data directory. */
  readonly keysDir?: string;
  /** Shows the download of missing weights. */
  readonly openProgress: () => Promise<PullProgress>;
  /** Receives a sentence about each part that is missing, for the operator. */
  readonly note: (sentence: string) => void;
}

export interface SettingsServer extends RunningServer {
  /** The first key, if this start created it; shown once. */
  readonly firstKey: string | null;
  /**
   * Downloads and opens the writer, then the recogniser. The server speaks given text meanwhile. `onWriter` is called
   * when the writer is ready or has failed.
   */
  prepare(onWriter?: () => void): Promise<void>;
}

/** Logs failures and recoveries of threads. */
export type ToLog = (what: string, bindings?: object) => (event: { readonly kind: string }) => void;

export interface SpeakingParts {
  readonly voice: EmbeddedCheckpoint;
  /** User lexicon of the server. */
  readonly words: Lexicon;
  readonly toLog: ToLog;
}

/** Opens writer, recogniser, accounts and ports around a voice. */
export async function composeServer(
  { voice, words, toLog }: SpeakingParts,
  settings: Settings,
  { env, logger, keysDir = settings.dataDir, openProgress, note }: ServerEnvironment,
): Promise<SettingsServer> {
  const wyoming = wyomingPlace(settings, env);
  const { local, models } = await localModels(settings, {
    words,
    onEvent: (checkpoint, event) => toLog("speech thread", { checkpoint })(event),
  });
  if (models.some((model) => model.isResident && model.checkpoint === voice.name)) voice.begin();
  const serverVoices = await readServerVoices(settings, models);
  for (const sentence of voiceWarnings(models, settings)) note(sentence);
  const remotes = remoteCheckpoints(settings, { env, onEvent: toLog("remote speech model") });
  const ending = new AbortController();
  let isSpeaking = () => false;
  const writer = composeWriter(settings, {
    weights: pulledOnce(settings, ending.signal, await openProgress(), pullWriter),
    env,
    isQuiet: () => !isSpeaking(),
    note,
  });
  const recogniser = composeRecogniser(settings, {
    weights: pulledOnce(settings, ending.signal, await openProgress(), recogniserWeights),
    env,
    maxS: MAX_RECORDING_S,
    onFailure: (message) => logger.warn({ cause: message }, "hearing thread"),
    onRecovery: (message) => logger.info({ cause: message }, "hearing thread"),
  });
  const { tenancy, storeUrl, takesAlone } = await openAccounts(settings, keysDir, env, logger);
  try {
    const { startServer } = await import("./start-server.ts");
    const server = await startServer({
      settings,
      tenancy,
      models,
      checkpoints: [voice, ...remotes, ...local],
      checkpointSlots: new Map<string, CheckpointSlotOptions>([
        ...remotes.map(
          ({ name, maxConcurrent }) => [name, { slots: maxConcurrent, keepsSlots: false }] as const,
        ),
        ...local.map(slotsOf),
      ]),
      serverVoices,
      remoteVoices: new Map(remotes.map(({ name, voices }) => [name, voices])),
      writer,
      recogniser,
      detector: openNeuralDetector({
        onFailure: (message) => logger.warn({ cause: message }, "turn detection"),
        onRecovery: (message) => logger.info({ cause: message }, "turn detection"),
      }),
      backend: backendOf(models, voice.name, local),
      speechThreads: () =>
        local.reduce((sum, one) => sum + (one.pool()?.stats().ready ?? 0), voice.threads()),
      canSpeak: () => voice.canSpeak() || local.some((one) => (one.pool()?.stats().ready ?? 0) > 0),
      canHear: async () => (await recogniser?.isExpected()) ?? false,
      takesAlone,
      wyoming,
      twilioAuthTokens: twilioAuthTokens(settings, env),
      logger,
    });
    isSpeaking = () => server.isSpeaking();
    const key = await firstKey(tenancy, settings).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return {
      ...server,
      firstKey: key,
      async prepare(onWriter = () => {}) {
        // Loads its table, so that the first request need not.
        detectLanguage("");
        const taken = takenNamesWarning(models, await tenancy.voices.listVoices().catch(() => []));
        if (taken !== null) note(taken);
        if (storeUrl === null) void reportSharing({ dataDir: keysDir, signal: ending.signal, note });
        await prepared(writer, "Authored turns cannot be written", ending.signal, note);
        onWriter();
        await prepared(recogniser, "Recordings cannot be transcribed", ending.signal, note);
      },
      async stop() {
        ending.abort(new Error("the server stops"));
        await server.stop();
      },
    };
  } catch (error) {
    // Its thread would keep the process alive after a failed start.
    await tenancy.close();
    throw error;
  }
}

/** Opens keys, usage and rate limits. */
async function openAccounts(settings: Settings, keysDir: string, env: Environment, logger: Logger) {
  // Read first: after a failure here, open buckets would keep the process alive.
  const storeUrl = storeUrlOf(settings, env);
  let takesAlone = 0;
  const buckets = await openBuckets(settings.buckets, bucketsUrl(settings, env), {
    onFailure: (message) => logger.error({ cause: message }, "shared buckets failed"),
    onRecovery: () => logger.info("shared buckets recovered"),
    onTakeAlone: () => {
      takesAlone += 1;
    },
  });
  const tenancy = await openTenancy(
    { ...settings, dataDir: keysDir },
    {
      storeUrl,
      buckets,
      onFailure: (message) => logger.error({ cause: message }, "database failed"),
      onRecovery: (message) => logger.info({ cause: message }, "database recovered"),
    },
  );
  return { tenancy, storeUrl, takesAlone: () => takesAlone };
}

/**
 * Creates the first key if there is none. Of several servers starting on one database, one creates it. Done last, so
 * that a failed start does not use it up.
 */
async function firstKey(tenancy: Tenancy, settings: Settings): Promise<string | null> {
  if ((await tenancy.listKeys()).length > 0) return null;
  const { defaultKeyRpm: rpm, defaultKeyBurst: burst } = settings;
  return (await tenancy.createFirstKey({ label: "first key", rpm, burst }))?.key ?? null;
}

/** Returns the checkpoint of the default model. */
function backendOf(
  models: readonly PublicModel[],
  embedded: string,
  local: readonly LocalCheckpoint[],
): ServerParts["backend"] {
  const name = models.find(({ card }) => card.isDefault)?.checkpoint ?? embedded;
  if (name === embedded) return { name, kind: "parametric" };
  return { name, kind: local.find((one) => one.name === name)?.kind ?? "remote" };
}

async function prepared(
  part: { prepare(): Promise<void> } | null,
  without: string,
  signal: AbortSignal,
  note: (sentence: string) => void,
): Promise<void> {
  if (signal.aborted) return;
  try {
    await part?.prepare();
  } catch (error) {
    note(`${without}: ${messageWithCauses(error)}`);
  }
}
