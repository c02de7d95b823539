import { SettingsError } from "../settings/settings-error.ts";

/** What servers share by an address: how messages name it, and where its address may be put. */
export interface SharedServer {
  readonly what: string;
  /** The variable that holds the address. */
  readonly variable: string;
  /** The setting that names a file which holds it. */
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

/** @throws SettingsError when there is none */
export function neededUrl(url: string | null, { what, variable, setting }: SharedServer): string {
  if (url !== null) return url;
  throw new SettingsError(
    "environment",
    `The address of ${what} is missing: put it into ${variable}, or name a file that holds it in ${setting}.`,
  );
}

/** @param how what is wrong with it and what to do, without quoting it: it may hold a password */
export function wrongAddress({ what, variable, setting }: SharedServer, how: string): SettingsError {
  return new SettingsError(
    "environment",
    `The address of ${what} (${variable}, or the file of ${setting}) ${how}.`,
  );
}
