import { listenWyoming, type WyomingBridge } from "../api/wyoming/bridge.ts";
import { keyIsGone, type WyomingDeps } from "../api/wyoming/requests.ts";
import type { CustomVoices } from "../serving/voices/custom-voices.ts";
import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";
import { SettingsError, wrongSetting } from "../settings/settings-error.ts";
import { asListenError } from "./listeners.ts";
import { readSecret } from "./secret.ts";
import { version } from "./version.ts";

/** Address of the Wyoming bridge, and the key that its clients are metered by. */
export interface WyomingPlace {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
}

/**
 * Reads the bridge's settings; `null` if there is no bridge.
 *
 * @throws SettingsError without a key or with an invalid port; SecretError if the key cannot be read
 */
export function wyomingPlace(
  { wyoming, wyomingKeyFile }: Pick<Settings, "wyoming" | "wyomingKeyFile">,
  env: Environment,
): WyomingPlace | null {
  if (wyoming === undefined) return null;
  const colon = wyoming.lastIndexOf(":");
  const host = wyoming.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  const port = Number(wyoming.slice(colon + 1));
  if (port > 65_535) {
    throw wrongSetting("wyoming", `is "${wyoming}", but a port is at most 65535: correct it`);
  }
  const apiKey = readSecret({
    env,
    file: wyomingKeyFile,
    variable: "ANTIPHON_WYOMING_KEY",
    setting: "wyomingKeyFile",
  });
  if (apiKey !== null) return { host, port, apiKey };
  throw new SettingsError(
    "file",
    "The Wyoming bridge has no API key to meter its clients by: make one with `antiphon keys create --label wyoming`, " +
      "and name a file that holds it in wyomingKeyFile, or put it into ANTIPHON_WYOMING_KEY.",
  );
}

export interface WyomingParts extends Omit<WyomingDeps, "apiKey" | "version" | "listVoices" | `on${string}`> {
  readonly customVoices: Pick<CustomVoices, "list">;
}

/** Listens at the configured address. Rejects if the key is unknown or the port cannot be opened. */
export async function composeWyoming(
  { host, port, apiKey }: WyomingPlace,
  { customVoices, ...deps }: WyomingParts,
): Promise<WyomingBridge> {
  const { metrics, logger } = deps;
  const key = await deps.tenancy.authenticate(apiKey);
  if (key === null) {
    const { message } = keyIsGone();
    throw new Error(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  }
  const bridge: WyomingDeps = {
    ...deps,
    apiKey,
    async listVoices() {
      const { data } = await customVoices.list(key.keyId);
      const usual = deps.resolve(null)?.card.id ?? "";
      return data.filter(({ models }) => models.includes(usual));
    },
    version: version(),
    onEvent: (outcome) => metrics.wyomingEvent(outcome),
    onSlowed: () => logger.warn("wyoming connection slowed"),
    onFailure: (error) => logger.error({ err: withoutWords(error) }, "wyoming connection failed"),
  };
  try {
    return await listenWyoming(bridge, { host, port });
  } catch (error) {
    throw asListenError(error, { host: "--wyoming", port: "--wyoming" });
  }
}

/** Returns an error's type and stack without its message, which may quote a client's words. */
function withoutWords(error: unknown): { readonly type: string; readonly stack: string } {
  if (!(error instanceof Error)) return { type: typeof error, stack: "" };
  const { name, message, stack = "" } = error;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  return { type: name, stack: frames.filter((line) => line.startsWith("    at ")).join("\n") };
}
