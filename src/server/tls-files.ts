import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";

/** What HTTPS is served by, in PEM. */
export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/**
 * The certificate and its key; `null` where neither is set, and HTTP is served.
 *
 * @throws SettingsError that names the setting when only one is set, or what it names cannot be used.
 */
export function readTlsFiles({ tls }: Partial<Pick<Settings, "tls">>): TlsFiles | null {
  const { certFile, keyFile } = tls ?? {};
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined)
    throw wrongSetting("tls.certFile", "is missing: tls.keyFile alone serves nothing");
  if (keyFile === undefined)
    throw wrongSetting("tls.keyFile", "is missing: tls.certFile alone serves nothing");
  const cert = read("tls.certFile", certFile);
  const key = read("tls.keyFile", keyFile);
  usable("tls.certFile", certFile, { cert });
  usable("tls.keyFile", keyFile, { cert, key });
  return { cert, key };
}

function read(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw wrongSetting(setting, `names ${file}, which cannot be read (${code}): name a PEM file`);
  }
}

function usable(setting: string, file: string, files: Partial<TlsFiles>): void {
  try {
    createSecureContext(files);
  } catch (error) {
    const { message } = error as Error;
    throw wrongSetting(
      setting,
      `names ${file}, which cannot be used (${message}): name a PEM file that fits`,
    );
  }
}
