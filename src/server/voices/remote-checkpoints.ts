import { nameProblem } from "../../contract/voice-form.ts";
import type { ModelVoice } from "../../core/model-card.ts";
import type { EndpointEvent, RemoteOptions } from "../../engines/remote/dialect.ts";
import { cacheVoices, listVoices } from "../../engines/remote/list-voices.ts";
import type { LoadableCheckpoint } from "../../models/checkpoint-cache.ts";
import { SPEAKERS } from "../../models/public-models.ts";
import type { Environment } from "../../settings/environment.ts";
import type { Settings } from "../../settings/schema.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import { readSecret, SecretError } from "../secret.ts";

/** A checkpoint on another server. */
export interface RemoteCheckpoint extends LoadableCheckpoint {
  /** Maximum concurrent utterances. */
  readonly maxConcurrent: number;
  /** The voices it reports, if known. Never rejects. */
  voices(): Promise<readonly ModelVoice[]>;
}

export interface RemoteSources {
  readonly env: Environment;
  /** Receives failures and recoveries of endpoints. */
  readonly onEvent?: (event: EndpointEvent) => void;
}

type Remote = NonNullable<Settings["checkpoints"][string]["remote"]>;

/** Memory of an open utterance: two seconds of received audio and its decoding. */
const PLACE_BYTES = 512 * 1024;

/**
 * Returns the remote checkpoints. Sends no request before one is used.
 *
 * @throws SettingsError with the setting and the remedy; SecretError if a key cannot be read
 */
export function remoteCheckpoints(
  settings: Pick<Settings, "checkpoints" | "generationTimeoutMs">,
  sources: RemoteSources,
): RemoteCheckpoint[] {
  return Object.entries(settings.checkpoints).flatMap(([name, { remote }]) => {
    if (remote === undefined) return [];
    const options = optionsOf(name, remote, settings.generationTimeoutMs, sources);
    const checkpoint: RemoteCheckpoint = {
      name,
      memoryBytes: remote.maxConcurrent * PLACE_BYTES,
      maxConcurrent: remote.maxConcurrent,
      voices: cacheVoices(() => listVoices(options)),
      async load() {
        const { createRemoteModel } = await import("../../engines/remote/remote-model.ts");
        return createRemoteModel(options);
      },
    };
    return [checkpoint];
  });
}

function optionsOf(
  name: string,
  remote: Remote,
  generationTimeoutMs: number,
  { env, onEvent }: RemoteSources,
): RemoteOptions {
  const { kind, urls, model, references, format, sampleRateHz, firstSoundTimeoutMs, idleTimeoutMs } = remote;
  const setting = (field: string): string => `checkpoints.${name}.remote.${field}`;
  for (const url of urls) checkUrl(url, setting("urls"));
  for (const [field, ms] of Object.entries({ firstSoundTimeoutMs, idleTimeoutMs })) {
    if (ms <= generationTimeoutMs) continue;
    throw wrongSetting(
      setting(field),
      `is longer than generationTimeoutMs (${generationTimeoutMs}): raise that too`,
    );
  }
  if (kind === "openai" && model === undefined) {
    throw wrongSetting(setting("model"), "is missing: with this kind it names the model to ask for");
  }
  if (kind === "antiphon" && references) {
    throw wrongSetting(setting("references"), "is for the kind openai: an Antiphon reads the turns itself");
  }
  return {
    name,
    kind,
    urls,
    model: model ?? null,
    voices: checkedVoices(remote, setting("voices")),
    format,
    sampleRateHz,
    references,
    apiKey: keyOf(remote, setting, env),
    firstSoundTimeoutMs,
    idleTimeoutMs,
    ...(onEvent === undefined ? {} : { onEvent }),
  };
}

/** Addresses may contain a password, so the message does not quote them. */
function checkUrl(address: string, setting: string): void {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null)
    throw wrongSetting(setting, "holds what is not an address: give one as in http://127.0.0.1:8880/v1");
  if (url.username !== "" || url.password !== "") {
    throw wrongSetting(setting, "holds a user name or a password: put the key into keyFile or keyEnv");
  }
  if (url.search !== "" || url.hash !== "") {
    throw wrongSetting(setting, "contains ? or #: give only the base URL, as in …/v1");
  }
}

function checkedVoices({ kind, voices }: Remote, setting: string): Readonly<Record<string, string>> {
  const shown = SPEAKERS.map((label) => JSON.stringify(label)).join(" and ");
  for (const name of Object.keys(voices ?? {})) {
    const problem = nameProblem(name);
    if (problem !== null) throw wrongSetting(setting, `names ${JSON.stringify(name)}, which ${problem}`);
  }
  const missing = SPEAKERS.find((label) => voices?.[label] === undefined);
  if (missing !== undefined && (kind === "openai" || voices !== undefined)) {
    throw wrongSetting(
      setting,
      `says nothing of the speaker ${JSON.stringify(missing)}: name a voice for ${shown} each`,
    );
  }
  return { ...voices };
}

function keyOf(
  { keyFile, keyEnv }: Remote,
  setting: (field: string) => string,
  env: Environment,
): string | null {
  const key = readSecret({ env, file: keyFile, variable: keyEnv, setting: setting("keyFile") });
  if (key === null && keyEnv !== undefined) {
    throw new SecretError(
      `${setting("keyEnv")} names ${keyEnv}, which is not set: put the endpoint's key there`,
    );
  }
  return key;
}
