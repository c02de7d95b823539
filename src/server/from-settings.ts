import { workerCount } from "../limits/server-limits.ts";
import type { Settings } from "../settings/schema.ts";
import type { ServerEnvironment, SettingsServer, ToLog } from "./compose-server.ts";
import { embeddedVoice } from "./voices/embedded-voice.ts";
import { serverLexicon } from "./voices/lexicon-file.ts";

/**
 * Builds a server from its settings and starts it. After an error, nothing stays open.
 *
 * @throws SettingsError, SecretError or UsageError for unusable settings
 */
export async function startFromSettings(
  settings: Settings,
  environment: ServerEnvironment,
): Promise<SettingsServer> {
  const { logger } = environment;
  const toLog: ToLog =
    (what, bindings = {}) =>
    (event) =>
      logger[event.kind === "recovered" ? "info" : "warn"]({ ...bindings, ...event }, what);
  const words = await serverLexicon(settings);
  const threads = workerCount(settings);
  const voice = embeddedVoice({ threads, precision: settings.voicePrecision, words }, toLog("speech thread"));
  // The threads start while the server's modules load, which takes as long. Models of the settings may do without.
  if (Object.keys(settings.models).length === 0) voice.begin();
  try {
    const { composeServer } = await import("./compose-server.ts");
    return await composeServer({ voice, words, toLog }, settings, environment);
  } catch (error) {
    await voice.abandon();
    throw error;
  }
}
