import { modelsFromSettings } from "../../../src/models/models-from-settings.ts";
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
