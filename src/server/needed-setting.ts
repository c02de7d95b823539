import { SettingsError } from "../settings/settings-error.ts";

/**
 * The value of a setting that another one asks for.
 *
 * @param by the other one, as in `writer.kind`
 * @param what it names
 * @throws SettingsError when it is missing
 */
export function neededSetting(value: string | undefined, setting: string, by: string, what: string): string {
  if (value !== undefined) return value;
  throw new SettingsError("file", `The setting ${setting} is missing: with this ${by} it names ${what}.`);
}
