import { BucketsError } from "../buckets.ts";

/** A server's address, and the secret that messages must not contain. */
export interface ServerIdentity {
  /** As in `10.0.0.7:6379`. */
  readonly place: string;
  readonly password: string | null;
}

/** Turns an error of the server or the network into one sentence with the remedy. */
export function asBucketsError({ name, message }: Error, spoken: ServerIdentity): BucketsError {
  const detail = withoutPassword(message, spoken.password);
  const other = name === "ReplyError" ? REFUSING : AWAY;
  const [finding, remedy] = FINDINGS.find(({ sign }) => sign.test(message))?.says ?? other;
  return new BucketsError(`The shared buckets at ${spoken.place} ${finding} (${detail}): ${remedy}.`);
}

type Says = readonly [finding: string, remedy: string];

const AWAY: Says = ["cannot be reached", "see that their server runs and can be reached from here"];
const REFUSING: Says = ["refuse", "allow or correct that in the settings of their server"];

const FINDINGS: readonly { readonly sign: RegExp; readonly says: Says }[] = [
  {
    sign: /WRONGPASS|NOAUTH|invalid password/,
    says: [
      "refuse the user or the password",
      "correct them in ANTIPHON_BUCKETS_URL or the file of buckets.urlFile",
    ],
  },
  {
    sign: /NOPERM|user executing the script/,
    says: [
      "do not let their user in",
      "allow it EVAL, EVALSHA, TIME, GET, SET and INFO, and the keys that begin with buckets.prefix",
    ],
  },
  {
    sign: /^OOM|command not allowed when used memory/,
    says: [
      "have no memory left",
      "give their server more, or let it forget what is used least (maxmemory-policy allkeys-lru)",
    ],
  },
  { sign: /^READONLY/, says: ["are a replica's", "name the primary, or an address that leads to it"] },
  {
    sign: /^Protocol error/,
    says: ["are no Valkey server's", "correct ANTIPHON_BUCKETS_URL or the file of buckets.urlFile"],
  },
  {
    sign: /certificate|altnames/i,
    says: [
      "have a certificate that is not trusted",
      "name a file with that of its authority in NODE_EXTRA_CA_CERTS",
    ],
  },
];

const MAX_CHARS = 200;

/** Shortens foreign text and removes the password, which some servers repeat. */
function withoutPassword(words: string, password: string | null): string {
  const forms = password === null ? [] : [password, encodeURIComponent(password)];
  const without = forms.reduce((text, form) => text.replaceAll(form, "…"), words);
  return without.replace(/\p{Cc}+/gu, " ").slice(0, MAX_CHARS);
}
