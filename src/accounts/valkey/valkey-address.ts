import type { SettingsError } from "../../settings/settings-error.ts";
import { SHARED_BUCKETS, wrongAddress } from "../shared-address.ts";

export interface ValkeyAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** `null` for the default user. */
  readonly user: string | null;
  readonly password: string | null;
  /** Database number. */
  readonly database: number;
}

/**
 * Parses `redis://[[user]:password@]host[:port][/database]`; `rediss://` uses TLS, and `valkey` may replace `redis`.
 * Defaults: port 6379, database 0.
 *
 * @throws SettingsError for anything else. The message quotes nothing, since the address may hold a password.
 */
export function parseValkeyAddress(text: string): ValkeyAddress {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw refused("is not an address");
  const scheme = /^(?:redis|valkey)(s?):$/.exec(url.protocol);
  if (scheme === null) throw refused("begins with neither redis:// nor rediss://");
  if (url.hostname === "") throw refused("names no host");
  if (url.search !== "" || url.hash !== "") throw refused("goes on after the database, with ? or #");
  if (!/^\/?\d{0,4}$/.test(url.pathname)) throw refused("names a database that is no number");
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user !== null && password === null) throw refused("has a user and no password");
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 6379 : Number(url.port),
    isTls: scheme[1] === "s",
    user,
    password,
    database: Number(url.pathname.slice(1)),
  };
}

function decoded(part: string): string | null {
  try {
    return part === "" ? null : decodeURIComponent(part);
  } catch {
    throw refused("has a % in its password that is no escape");
  }
}

function refused(what: string): SettingsError {
  return wrongAddress(
    SHARED_BUCKETS,
    `${what}: write it as redis://user:password@host:6379/0, with what is special in the password escaped, as in %40 for @`,
  );
}
