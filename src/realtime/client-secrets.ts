import { randomBytes } from "node:crypto";
import { readJson } from "../contract/read-json.ts";
import { SessionUpdate } from "../contract/realtime/session.ts";

/** Secrets that a key may have at a time, and characters of their sessions; beyond either, its oldest ends. */
const MAX_SECRETS_PER_KEY = 256;
const MAX_CHARS_PER_KEY = 2 * 2 ** 20;
/** Characters of all sessions; beyond, the oldest secret ends of the key that has most. */
const MAX_CHARS = 32 * 2 ** 20;
/** How often secrets that have expired are looked for, in milliseconds. */
const SWEEP_MS = 60_000;
/** Browser SDKs accept only keys with this prefix. */
const PREFIX = "ek_";

/** The key that a session is metered by, and what the session begins with. */
export interface Presented {
  readonly apiKey: string;
  readonly session: SessionUpdate;
}

interface ClientSecret {
  /** The session as JSON, which takes a fraction of its memory. */
  readonly session: string;
  readonly expiresMs: number;
}

/** The secrets of one key, oldest first. */
interface Secrets {
  readonly byValue: Map<string, ClientSecret>;
  chars: number;
}

export interface Clocks {
  /** Monotonic milliseconds, by which secrets expire. */
  readonly nowMs: () => number;
  /** Unix time in milliseconds, which is only reported. */
  readonly wallMs: () => number;
}

/** Secrets that open realtime sessions in place of a key, for a while. They are kept in memory and end with the process. */
export class ClientSecrets {
  readonly #clocks: Clocks;
  readonly #keys = new Map<string, Secrets>();
  /** The key of each secret. */
  readonly #keyOf = new Map<string, string>();
  #chars = 0;
  #sweptMs = 0;

  constructor(clocks: Clocks = { nowMs: () => performance.now(), wallMs: () => Date.now() }) {
    this.#clocks = clocks;
  }

  /** Makes a secret of a key. `expiresAt` is Unix time in seconds. */
  issue(
    apiKey: string,
    seconds: number,
    session: SessionUpdate,
  ): { readonly value: string; readonly expiresAt: number } {
    this.#sweep();
    const wallMs = this.#clocks.wallMs();
    const expiresAt = Math.floor(wallMs / 1_000) + seconds;
    const value = `${PREFIX}${randomBytes(24).toString("hex")}`;
    const text = JSON.stringify(session);
    const own = this.#keys.get(apiKey) ?? { byValue: new Map(), chars: 0 };
    this.#keys.set(apiKey, own);
    own.byValue.set(value, {
      session: text,
      expiresMs: this.#clocks.nowMs() + 1_000 * expiresAt - wallMs,
    });
    this.#keyOf.set(value, apiKey);
    this.#count(own, text.length);
    while (own.byValue.size > MAX_SECRETS_PER_KEY || own.chars > MAX_CHARS_PER_KEY) this.#endOldest(own);
    while (this.#chars > MAX_CHARS) this.#endOldest(this.#largest);
    return { value, expiresAt };
  }

  /**
   * Returns the key and session that a client secret stands for; anything else is a key. A secret may expire at any moment,
   * and is then no more than an unknown key: ask once, and keep the answer.
   */
  behind(presented: string): Presented {
    const apiKey = this.#keyOf.get(presented);
    const secret = apiKey === undefined ? undefined : this.#keys.get(apiKey)?.byValue.get(presented);
    if (apiKey === undefined || secret === undefined || secret.expiresMs <= this.#clocks.nowMs())
      return { apiKey: presented, session: {} };
    const { value } = readJson(Buffer.from(secret.session), SessionUpdate);
    return { apiKey, session: value as SessionUpdate };
  }

  get #largest(): Secrets {
    return [...this.#keys.values()].reduce((most, each) => (each.chars > most.chars ? each : most));
  }

  #endOldest(own: Secrets): void {
    const [oldest] = own.byValue.keys();
    this.#end(own, oldest!);
  }

  #end(own: Secrets, value: string): void {
    this.#count(own, -own.byValue.get(value)!.session.length);
    own.byValue.delete(value);
    this.#keyOf.delete(value);
  }

  #count(own: Secrets, chars: number): void {
    own.chars += chars;
    this.#chars += chars;
  }

  #sweep(): void {
    const nowMs = this.#clocks.nowMs();
    if (nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    for (const [apiKey, own] of this.#keys) {
      for (const [value, { expiresMs }] of own.byValue) if (expiresMs <= nowMs) this.#end(own, value);
      if (own.byValue.size === 0) this.#keys.delete(apiKey);
    }
  }
}
