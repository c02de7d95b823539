import { randomBytes } from "node:crypto";
import { readJson } from "../../contract/json/read-json.ts";
import { SessionUpdate } from "../../contract/realtime/session.ts";

/**
 * Limits per key: secrets, and characters of their sessions as JSON. Beyond either, the key's oldest secret is
 * dropped.
 */
const MAX_SECRETS_PER_KEY = 256;
const MAX_CHARS_PER_KEY = 2 * 2 ** 20;
/** Limit of all keys together. Beyond it, the key with the most characters drops its oldest secret. */
const MAX_CHARS = 32 * 2 ** 20;
const SWEEP_MS = 60_000;
/** Browser SDKs accept only keys with this prefix. */
const PREFIX = "ek_";

/** The key that meters a session, and its initial settings. */
export interface ResolvedCredential {
  readonly apiKey: string;
  readonly session: SessionUpdate;
}

interface ClientSecret {
  readonly owner: Owner;
  /** JSON, which takes a fraction of the object's memory. */
  readonly session: string;
  readonly expiresMs: number;
}

interface Owner {
  readonly apiKey: string;
  readonly values: Set<string>;
  chars: number;
}

/** Client secrets: temporary credentials for realtime sessions. They are kept in memory and end with the process. */
export class ClientSecrets {
  readonly #nowMs: () => number;
  readonly #secrets = new Map<string, ClientSecret>();
  readonly #owners = new Map<string, Owner>();
  #chars = 0;
  #sweptMs = 0;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Creates a secret for a key. `expiresAt` is Unix time in seconds. */
  issue(
    apiKey: string,
    seconds: number,
    update: SessionUpdate,
  ): { readonly value: string; readonly expiresAt: number } {
    this.#sweep();
    const wallMs = Date.now();
    const expiresAt = Math.floor(wallMs / 1_000) + seconds;
    const value = `${PREFIX}${randomBytes(24).toString("hex")}`;
    const session = JSON.stringify(update);
    const owner = this.#owners.get(apiKey) ?? { apiKey, values: new Set(), chars: 0 };
    this.#owners.set(apiKey, owner);
    owner.values.add(value);
    this.#secrets.set(value, { owner, session, expiresMs: this.#nowMs() + 1_000 * expiresAt - wallMs });
    this.#count(owner, session.length);
    while (owner.values.size > MAX_SECRETS_PER_KEY || owner.chars > MAX_CHARS_PER_KEY)
      this.#dropOldest(owner);
    while (this.#chars > MAX_CHARS) this.#dropOldest(this.#largest);
    return { value, expiresAt };
  }

  /**
   * Resolves a client secret to its key and session; any other text is returned as a key. Call it once per request: a
   * secret may expire at any moment, and is then an unknown key.
   */
  resolve(presented: string): ResolvedCredential {
    const secret = this.#secrets.get(presented);
    if (secret === undefined || secret.expiresMs <= this.#nowMs()) return { apiKey: presented, session: {} };
    const { value } = readJson(Buffer.from(secret.session), SessionUpdate);
    return { apiKey: secret.owner.apiKey, session: value as SessionUpdate };
  }

  get #largest(): Owner {
    return [...this.#owners.values()].reduce((most, each) => (each.chars > most.chars ? each : most));
  }

  #dropOldest({ values }: Owner): void {
    const [oldest] = values;
    this.#drop(oldest!);
  }

  #drop(value: string): void {
    const { owner, session } = this.#secrets.get(value)!;
    this.#secrets.delete(value);
    owner.values.delete(value);
    this.#count(owner, -session.length);
    if (owner.values.size === 0) this.#owners.delete(owner.apiKey);
  }

  #count(owner: Owner, chars: number): void {
    owner.chars += chars;
    this.#chars += chars;
  }

  #sweep(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    for (const [value, { expiresMs }] of this.#secrets) if (expiresMs <= nowMs) this.#drop(value);
  }
}
