import { randomBytes } from "node:crypto";
import type { SessionUpdate } from "../contract/realtime/session.ts";

/** Secrets that one key may have out at a time; of more the oldest is good no longer. */
const MAX_A_KEY = 256;
/** Browser SDKs take a key that begins so, and no other. */
const PREFIX = "ek_";

/** Who a session is for. */
export interface Presented {
  /** The API key that everything is metered by: of a client secret, that which it was made with. */
  readonly apiKey: string;
  /** What a session begins with. */
  readonly session: SessionUpdate;
}

/** What a client secret stands for. */
interface ClientSecret extends Presented {
  /** Unix time, in seconds. */
  readonly expiresAt: number;
}

/**
 * Secrets that open realtime sessions for a while, as a page or an app may be given in place of a key. They are kept in
 * memory and end with the process. A session that was opened outlives its secret.
 */
export class ClientSecrets {
  readonly #secrets = new Map<string, ClientSecret>();

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

  /**
   * Whom a client secret or a key that is presented stands for. A secret may expire at any moment, and is then no more than
   * an unknown key: ask once, and keep the answer.
   */
  behind(presented: string, nowS: number): Presented {
    const secret = this.#secrets.get(presented);
    return secret !== undefined && secret.expiresAt > nowS ? secret : { apiKey: presented, session: {} };
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
