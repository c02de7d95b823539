import type { Settings } from "../settings/schema.ts";
import { SettingsError } from "../settings/settings-error.ts";
import { readSecret } from "./secret.ts";

/** Where the Wyoming bridge listens, and the key that its clients are metered by. */
export interface WyomingPlace {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string;
}

/**
 * What the settings say of the bridge; `null` where there is none.
 *
 * @throws SettingsError when it has no key, or its port is none; SecretError when the key cannot be used.
 */
export function wyomingPlace(
  { wyoming, wyomingKeyFile }: Pick<Settings, "wyoming" | "wyomingKeyFile">,
  env: Readonly<Record<string, string | undefined>>,
): WyomingPlace | null {
  if (wyoming === undefined) return null;
  const colon = wyoming.lastIndexOf(":");
  const host = wyoming.slice(0, colon).replace(/^\[(.*)\]$/, "$1");
  const port = Number(wyoming.slice(colon + 1));
  if (port > 65_535) {
    throw new SettingsError(
      "file",
      `The setting wyoming is "${wyoming}", but a port is at most 65535: correct it.`,
    );
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
