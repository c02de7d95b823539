export type SettingSource = "flag" | "environment" | "file";

/** An unknown or invalid setting. The message is one sentence with the remedy. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly source: SettingSource;
  /** Setting name (`metrics.port`), if it is one. */
  readonly setting: string | null;

  constructor(source: SettingSource, message: string, setting: string | null = null) {
    super(message);
    this.source = source;
    this.setting = setting;
  }
}

/** Removes user and password from addresses in a text, so that messages may quote it. */
export function withoutLogins(text: string): string {
  return text.replace(/:\/\/[^\s"\\]*@/g, "://…@");
}

/** Removes user and password as {@link withoutLogins} does, and cuts the text to 80 characters. */
export function quotable(text: string): string {
  const shown = withoutLogins(text);
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}

/**
 * Creates the error for an unusable setting, from its name and the problem, such as `checkpoints.csm-1b.path` and `is
 * not a folder: …`.
 */
export function wrongSetting(setting: string, why: string): SettingsError {
  return new SettingsError("file", `The setting ${setting} ${why}.`, setting);
}
