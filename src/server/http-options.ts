import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { fileURLToPath } from "node:url";
import type { HttpOptions, ServiceInfo } from "../api/http/http-deps.ts";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { MAX_RECORDING_BYTES, MAX_RECORDING_S } from "../contract/audio-transcriptions.ts";
import {
  MAX_INSTRUCTIONS_CHARS,
  MAX_NEW_TOKENS,
  MAX_SCRIPT_CHARS,
  MAX_SPEECH_CHARS,
  MAX_TEXT_CHARS,
  MAX_TURN_AUDIO_BYTES,
  MAX_TURNS,
  MIN_NEW_TOKENS,
} from "../contract/limits.ts";
import { DEFAULT_PARAMS, paramKnobs } from "../contract/params.ts";
import { MAX_SAMPLE_BYTES, SAMPLE_S } from "../contract/voice-form.ts";
import type { ServerLimits } from "../limits/server-limits.ts";
import type { Catalogue } from "../models/catalogue.ts";
import { MAX_VOICES_PER_KEY } from "../serving/voices/custom-voices.ts";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";

export function httpOptions(settings: Settings): HttpOptions {
  const { trustProxy } = settings;
  return {
    heartbeatMs: settings.heartbeatMs,
    stallTimeoutMs: settings.stallTimeoutMs,
    collectTimeoutMs: settings.requestTimeoutMs,
    streamPatienceMs: 3_000,
    headersTimeoutMs: settings.headersTimeoutMs,
    uploadTimeoutMs: settings.uploadTimeoutMs,
    bodyLimitBytes: settings.bodyLimitBytes,
    trustProxy: typeof trustProxy === "boolean" ? trustProxy : [...trustProxy],
    keylessLists: settings.keylessLists,
    corsOrigins: settings.corsOrigins,
    playground: settings.playground.enabled ? PLAYGROUND : null,
    tls: readTlsFiles(settings),
    serveMetrics: settings.metrics.enabled && settings.metrics.port === undefined,
  };
}

/**
 * Returns the answer of `GET /v1/info`.
 * @param backend checkpoint of the default model
 */
export function serviceInfo(
  {
    settings,
    backend,
  }: { readonly settings: Settings; readonly backend: Omit<ServiceInfo["backend"], "sample_rate"> },
  catalogue: Catalogue,
  limits: ServerLimits,
): ServiceInfo {
  const { speaking, shared } = limits;
  return {
    backend: { ...backend, sample_rate: SAMPLE_RATE_HZ },
    defaults: DEFAULT_PARAMS,
    limits: {
      max_text_chars: MAX_TEXT_CHARS,
      max_speech_chars: MAX_SCRIPT_CHARS,
      max_whole_speech_chars: MAX_SPEECH_CHARS,
      max_instructions_chars: MAX_INSTRUCTIONS_CHARS,
      max_turns: MAX_TURNS,
      max_turn_audio_bytes: MAX_TURN_AUDIO_BYTES,
      max_recording_bytes: MAX_RECORDING_BYTES,
      max_recording_seconds: MAX_RECORDING_S,
      max_voice_bytes: MAX_SAMPLE_BYTES,
      min_voice_seconds: SAMPLE_S.min,
      kept_voice_seconds: SAMPLE_S.max,
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
      key_max_voices: MAX_VOICES_PER_KEY,
    },
    param_schema: paramKnobs(catalogue.unusedKnobs()),
  };
}

/** Files of the page at `/`. */
const PLAYGROUND = {
  page: fileURLToPath(new URL("../../../playground/", import.meta.url)),
  client: fileURLToPath(new URL("../client/", import.meta.url)),
  captions: fileURLToPath(new URL("../core/captions/", import.meta.url)),
  dialogue: fileURLToPath(new URL("../core/dialogue/", import.meta.url)),
  audio: fileURLToPath(new URL("../audio/", import.meta.url)),
};

/** Certificate and key in PEM. */
type TlsFiles = NonNullable<HttpOptions["tls"]>;

/**
 * Returns the certificate and its key; `null` if neither is set, for plain HTTP.
 *
 * @throws SettingsError if only one is set, or a file cannot be used
 */
export function readTlsFiles({ tls }: Partial<Pick<Settings, "tls">>): TlsFiles | null {
  const { certFile, keyFile } = tls ?? {};
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined)
    throw wrongSetting("tls.certFile", "is missing: tls.keyFile alone serves nothing");
  if (keyFile === undefined)
    throw wrongSetting("tls.keyFile", "is missing: tls.certFile alone serves nothing");
  const cert = read("tls.certFile", certFile);
  const key = read("tls.keyFile", keyFile);
  usable("tls.certFile", certFile, { cert });
  usable("tls.keyFile", keyFile, { cert, key });
  return { cert, key };
}

function read(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw wrongSetting(setting, `names ${file}, which cannot be read (${code}): name a PEM file`);
  }
}

function usable(setting: string, file: string, files: Partial<TlsFiles>): void {
  try {
    createSecureContext(files);
  } catch (error) {
    const { message } = error as Error;
    throw wrongSetting(
      setting,
      `names ${file}, which cannot be used (${message}): name a PEM file that fits`,
    );
  }
}
