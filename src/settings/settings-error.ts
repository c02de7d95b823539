/** Where a setting came from. */
export type SettingSource = "flag" | "environment" | "file";

/** A setting that is unknown or is not what it takes. The message is one plain sentence that says how to mend it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly source: SettingSource;

  constructor(source: SettingSource, message: string) {
    super(message);
    this.source = source;
  }
}
