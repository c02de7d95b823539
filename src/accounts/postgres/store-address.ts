import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import type { ClientConfig } from "pg";
import type { SettingsError } from "../../settings/settings-error.ts";
import { SHARED_STORE, wrongAddress } from "../shared-address.ts";

/** Address of a database for `pg` and for messages. */
export interface StoreAddress {
  readonly client: ClientConfig;
  /** Without user and password: `the database antiphon on db.example:5432`. */
  readonly place: string;
}

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. A missing user or password is taken from `PGUSER` or
 * `PGPASSWORD`. With TLS, `sslmode` verifies the certificate and its name for all of `require`, `verify-ca` and
 * `verify-full`; only `no-verify` does not.
 *
 * @throws SettingsError for an invalid address or an unknown option. The message quotes nothing that may be secret.
 */
export function storeAddress(text: string): StoreAddress {
  const url = parsed(text);
  const parameters = new Map(url.searchParams);
  for (const name of parameters.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw wrong(
        `has the parameter ${JSON.stringify(name)}: leave it out, known are ${PARAMETERS.join(", ")}`,
      );
    }
  }
  const named = decoded(url.hostname).replace(/^\[(.*)\]$/, "$1");
  const host = parameters.get("host") ?? (named === NO_HOST ? "" : named);
  const database = decoded(url.pathname.slice(1));
  if (host === "") throw wrong(`names no host: ${SHAPE}`);
  if (host.includes(","))
    throw wrong("names several hosts: put HAProxy or pgbouncer before them, and name that");
  if (database === "") throw wrong(`names no database: ${SHAPE}`);
  const port = url.port === "" ? 5432 : Number(url.port);
  return {
    client: {
      host,
      port,
      database,
      user: decoded(url.username) || undefined,
      password: decoded(url.password) || undefined,
      ssl: tlsOf(parameters),
      enableChannelBinding: parameters.get("channel_binding") !== "disable",
      application_name: parameters.get("application_name") ?? "antiphon",
    } as ClientConfig,
    place: host.startsWith("/")
      ? `the database ${database} in ${host}`
      : `the database ${database} on ${host.includes(":") ? `[${host}]` : host}:${port}`,
  };
}

const PARAMETERS = [
  "host",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "channel_binding",
  "application_name",
] as const satisfies string[] as readonly string[];

const VERIFIED = ["require", "verify-ca", "verify-full"];
const SSL_MODES = ["disable", ...VERIFIED, "no-verify"];

const SHAPE = "write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with what is special in it percent-encoded";

/** Placeholder for a missing host (as with `?host=`), which the URL standard does not allow. */
const NO_HOST = "none.invalid";

function parsed(text: string): URL {
  const hosts = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text)?.[1];
  if (hosts === undefined) throw wrong(`is not a PostgreSQL address: ${SHAPE}`);
  if (hosts.includes(","))
    throw wrong("names several hosts: put HAProxy or pgbouncer before them, and name that");
  // The rest of a password, which would otherwise be shown as a database or parameter.
  if (/[/?#].*@/s.test(text.slice("postgres://".length).replace(/^\/+/, "")))
    throw wrong(`has an @ after its host, as if a password contained / or ?: ${SHAPE}`);
  try {
    return new URL(hosts === "" ? text.replace(/@(?=[/?#]|$)/, `@${NO_HOST}`) : text);
  } catch {
    throw wrong(`cannot be read: ${SHAPE}`);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw wrong(`cannot be read: ${SHAPE}`);
  }
}

function tlsOf(parameters: ReadonlyMap<string, string>): ConnectionOptions | false {
  const files = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" } as const;
  const given = Object.entries(files).filter(([, name]) => parameters.has(name));
  const mode = parameters.get("sslmode") ?? (given.length > 0 ? "verify-full" : "disable");
  if (!SSL_MODES.includes(mode)) {
    throw wrong(`has an sslmode of ${JSON.stringify(mode)}: it is one of ${SSL_MODES.join(", ")}`);
  }
  if (mode === "disable") return false;
  const read = given.map(([option, name]) => [option, fileOf(name, parameters.get(name)!)]);
  return { ...Object.fromEntries(read), rejectUnauthorized: VERIFIED.includes(mode) };
}

function fileOf(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw wrong(
      `names ${path} as ${name}, which cannot be read (${code}): give the server read access to it`,
    );
  }
}

function wrong(how: string): SettingsError {
  return wrongAddress(SHARED_STORE, how);
}
