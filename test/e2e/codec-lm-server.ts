import { modelsFromSettings } from "../../src/models/models-from-settings.ts";
import { codecLmCheckpoints } from "../../src/server/voices/codec-lm-checkpoints.ts";
import type { LocalCheckpoint } from "../../src/server/voices/local-checkpoint.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../api/http/start.ts";

/** A tone server with some models spoken by codec language models in threads. */
export interface CodecLmServer extends TestServer {
  readonly local: ReadonlyMap<string, LocalCheckpoint>;
}

/** Composes the server as `antiphon serve` does. @param dataDir folder of the quantised weights */
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
