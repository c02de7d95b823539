import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";
import { readSecret } from "./secret.ts";

/**
 * Returns a setting that another one requires.
 *
 * @param by the other setting, as in `writer.kind`
 * @param what the setting's meaning, for the message
 * @throws SettingsError if it is missing
 */
export function neededSetting(value: string | undefined, setting: string, by: string, what: string): string {
  if (value !== undefined) return value;
  throw wrongSetting(setting, `is missing: with this ${by} it names ${what}`);
}

/** Whether replies are small talk, not written by a language model. */
export function isSmallTalk({ kind, checkpoint }: Settings["writer"]): boolean {
  return kind === "embedded" && checkpoint === undefined;
}

/** An endpoint with OpenAI's API. */
export interface Endpoint {
  readonly baseUrl: string;
  readonly model: string;
  /** `null` if it needs none. */
  readonly apiKey: string | null;
}

/**
 * Returns the endpoint of the writer or the recogniser.
 *
 * @throws SettingsError if its address or model is missing; SecretError if its key cannot be read
 */
export function endpointOf(
  part: "writer" | "recogniser",
  { baseUrl, model, apiKeyFile }: Pick<Settings["writer" | "recogniser"], "baseUrl" | "model" | "apiKeyFile">,
  env: Environment,
): Endpoint {
  const needed = (value: string | undefined, name: string, what: string) =>
    neededSetting(value, `${part}.${name}`, `${part}.kind`, what);
  return {
    baseUrl: needed(baseUrl, "baseUrl", "the endpoint's address"),
    model: needed(model, "model", "the model to ask for"),
    apiKey: readSecret({
      env,
      file: apiKeyFile,
      variable: `ANTIPHON_${part.toUpperCase()}_API_KEY`,
      setting: `${part}.apiKeyFile`,
    }),
  };
}
