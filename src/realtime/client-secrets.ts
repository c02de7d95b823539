import { randomBytes } from "node:crypto";
import type { SessionUpdate } from "../contract/realtime/session.ts";

/** How long a client secret is good, in seconds. */
export const SECRET_S = { minimum: 10, maximum: 7_200, default: 600 } as const;

/** Secrets that one key may have out at a time; of more the oldest is good no longer. */
const MAX_A_KEY = 256;
/** Browser SDKs take a key that begins so, and no other. */
const PREFIX = "ek_";

/** What a client secret stands for. */
export interface ClientSecret {
  /** The API key that it was made with, which everything is metered by. */
  readonly apiKey: string;
  /** What a session that it opens has. */
  readonly session: SessionUpdate;
  /** Unix time, in seconds. */
  readonly expiresAt: number;
}

/**
 * Secrets that open realtime sessions for a while, as a page or an app may be given in place of a key. They are kept in
 * memory and end with the process. A session that was opened outlives its secret.
 */
export class ClientSecrets {
  readonly #secrets = new Map<string, ClientSecret>();

  static isOne(presented: string): boolean {
    return presented.startsWith(PREFIX);
  }

  /** @param nowS Unix time, in seconds */
  issue(
    apiKey: string,
    seconds: number,
    session: SessionUpdate,
    nowS: number,
  ): ClientSecret & { readonly value: string } {
    this.#forget(apiKey, nowS);
    const value = `${PREFIX}${randomBytes(24).toString("hex")}`;
    const secret = { apiKey, session, expiresAt: Math.floor(nowS) + seconds };
    this.#secrets.set(value, secret);
    return { value, ...secret };
  }

  /** What it stands for; `null` when it is none, or no longer. */
  find(value: string, nowS: number): ClientSecret | null {
    const secret = this.#secrets.get(value);
    return secret === undefined || secret.expiresAt <= nowS ? null : secret;
  }

  #forget(apiKey: string, nowS: number): void {
    const own: string[] = [];
    for (const [value, secret] of this.#secrets) {
      if (secret.expiresAt <= nowS) this.#secrets.delete(value);
      else if (secret.apiKey === apiKey) own.push(value);
    }
    for (const value of own.slice(0, Math.max(0, own.length + 1 - MAX_A_KEY))) this.#secrets.delete(value);
  }
}
