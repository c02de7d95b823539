import type { Environment } from "../settings/environment.ts";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";
import { readSecret } from "./secret.ts";

/**
 * The value of a setting that another one asks for.
 *
 * @param by the other one, as in `writer.kind`
 * @param what it names
 * @throws SettingsError when it is missing
 */
export function neededSetting(value: string | undefined, setting: string, by: string, what: string): string {
  if (value !== undefined) return value;
  throw wrongSetting(setting, `is missing: with this ${by} it names ${what}`);
}

/** An endpoint that speaks as OpenAI's does. */
export interface Endpoint {
  readonly baseUrl: string;
  /** The model to ask for. */
  readonly model: string;
  /** Null where it needs none. */
  readonly apiKey: string | null;
}

/**
 * The endpoint that writes or recognises by the settings.
 *
 * @throws SettingsError when its address or model is missing; SecretError when its key cannot be used.
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
