import { SettingsError } from "../settings/settings-error.ts";

/** A server configured by an address: its name in messages and the sources of the address. */
export interface SharedServer {
  readonly what: string;
  /** Environment variable with the address. */
  readonly variable: string;
  /** Setting that names a file with the address. */
  readonly setting: string;
}

export const SHARED_STORE: SharedServer = {
  what: "the database",
  variable: "ANTIPHON_STORE_URL",
  setting: "store.urlFile",
};

export const SHARED_BUCKETS: SharedServer = {
  what: "the shared buckets",
  variable: "ANTIPHON_BUCKETS_URL",
  setting: "buckets.urlFile",
};

/** Throws SettingsError if there is none. */
export function neededUrl(url: string | null, { what, variable, setting }: SharedServer): string {
  if (url !== null) return url;
  throw new SettingsError(
    "environment",
    `The address of ${what} is missing: put it into ${variable}, or name a file that holds it in ${setting}.`,
  );
}

/** @param how the problem and the remedy, without quoting the address, which may hold a password */
export function wrongAddress({ what, variable, setting }: SharedServer, how: string): SettingsError {
  return new SettingsError(
    "environment",
    `The address of ${what} (${variable}, or the file of ${setting}) ${how}.`,
  );
}
