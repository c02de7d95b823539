/** Where a setting came from. */
export type SettingSource = "flag" | "environment" | "file";

/** A setting that is unknown or is not what it takes. The message is one plain sentence that says how to mend it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly source: SettingSource;
  /** Its name (`metrics.port`), where it is one. */
  readonly setting: string | null;

  constructor(source: SettingSource, message: string, setting: string | null = null) {
    super(message);
    this.source = source;
    this.setting = setting;
  }
}

/** A text as a message may quote it: without the user and the password that an address in it may hold. */
export function withoutLogins(text: string): string {
  return text.replace(/:\/\/[^\s"\\]*@/g, "://…@");
}

/** The same, and at most 80 characters of it. */
export function quotable(text: string): string {
  const told = withoutLogins(text);
  return told.length > 80 ? `${told.slice(0, 79)}…` : told;
}

/** A setting that names what cannot be used, by its name and why, as in `checkpoints.csm-1b.path` and `is not a folder: …`. */
export function wrongSetting(setting: string, why: string): SettingsError {
  return new SettingsError("file", `The setting ${setting} ${why}.`, setting);
}
