import { modelsFromSettings } from "../../../src/models/models-from-settings.ts";
import { codecLmCheckpoints } from "../../../src/server/voices/codec-lm-checkpoints.ts";
import type { LocalCheckpoint } from "../../../src/server/voices/local-checkpoint.ts";
import { remoteCheckpoints } from "../../../src/server/voices/remote-checkpoints.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";

/** Which checkpoint elsewhere speaks for which id, as the settings have it. */
export interface Elsewhere {
  readonly models: Readonly<Record<string, { readonly checkpoint: string }>>;
  readonly checkpoints: Readonly<Record<string, { readonly remote: object }>>;
  /** The environment in which their keys are looked for. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server of tones some of whose models are spoken elsewhere, put together as `antiphon serve` does it. */
export function startRemoteServer(
  { models, checkpoints, env = {} }: Elsewhere,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const settings = loadSettings({
    env: { ANTIPHON_MODELS: JSON.stringify(models), ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) },
  });
  const remotes = remoteCheckpoints(settings, { env });
  return startTestServer({
    ...options,
    models: modelsFromSettings(settings),
    checkpoints: remotes,
    remoteVoices: new Map(remotes.map(({ name, voices }) => [name, voices])),
    checkpointSlots: new Map(
      remotes.map(({ name, maxConcurrent }) => [name, { slots: maxConcurrent, keepsSlots: false }]),
    ),
  });
}

/** A server of tones some of whose models are spoken by codec language models in threads. */
export interface CodecLmServer extends TestServer {
  /** By their names. */
  readonly local: ReadonlyMap<string, LocalCheckpoint>;
}

/** Puts it together as `antiphon serve` does it. @param dataDir where quantised weights are kept */
export async function startCodecLmServer(
  { models, checkpoints }: { readonly models: object; readonly checkpoints: object },
  dataDir: string,
  options: TestServerOptions = {},
): Promise<CodecLmServer> {
  const settings = loadSettings({
    env: { ANTIPHON_MODELS: JSON.stringify(models), ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) },
    flags: { dataDir },
  });
  const local = await codecLmCheckpoints(settings);
  const server = await startTestServer({
    ...options,
    models: modelsFromSettings(settings, new Map(local.map(({ name, voice }) => [name, voice]))),
    checkpoints: local,
    checkpointSlots: new Map(
      local.map(({ name, maxConcurrent }) => [name, { slots: maxConcurrent, keepsSlots: true }]),
    ),
  });
  return { ...server, local: new Map(local.map((one) => [one.name, one])) };
}
