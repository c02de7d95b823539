import type { AuthoredText } from "../../serving/reply/authored-text.ts";
import { itemText } from "./conversation-items.ts";
import { type GenerateResponseOptions, prepareResponse } from "./generate-response.ts";
import type { ResponseRequest } from "./session-events.ts";

export interface PreparedTextParts
  extends Pick<GenerateResponseOptions, "service" | "resolve" | "model" | "keyId" | "signal"> {
  /** Whether to write replies in advance. Some are thrown away, so only for writers that cost nothing. Default: no. */
  readonly writesAhead?: boolean;
}

/**
 * Writes the reply to a turn that is probably over, so that it can be spoken as soon as the turn ends. It is neither
 * metered nor sent before that. Language models do not write in advance, since their tokens cost time or money.
 */
export class PreparedText {
  readonly #parts: PreparedTextParts;
  #latest: { readonly key: string; text: AuthoredText | null; readonly controller: AbortController } | null =
    null;

  constructor(parts: PreparedTextParts) {
    this.#parts = parts;
  }

  /** Never rejects. If it fails, the reply is written without preparation. */
  async prepare(request: ResponseRequest): Promise<void> {
    const key = keyOf(request);
    if (this.#latest?.key === key) return;
    this.discard();
    const { writesAhead, service, resolve, model, keyId, signal } = this.#parts;
    if (writesAhead !== true || service.callsTools || request.settings.modality === "text") return;
    const preparing = { key, text: null as AuthoredText | null, controller: new AbortController() };
    this.#latest = preparing;
    try {
      const prepared = prepareResponse(request, model, 0, resolve);
      const until = AbortSignal.any([preparing.controller.signal, signal]);
      const text = await service.beginText(prepared, keyId, until);
      if (this.#latest === preparing) preparing.text = text;
      else text.release();
    } catch {
      // The reply fails in the same way and reports it.
    }
  }

  /** Returns the text prepared for a request, written until `signal`; the caller releases it. Any other is discarded. */
  take(request: ResponseRequest, signal: AbortSignal): AuthoredText | null {
    const latest = this.#latest;
    if (latest === null || latest.text === null || latest.key !== keyOf(request)) {
      this.discard();
      return null;
    }
    signal.addEventListener("abort", () => latest.controller.abort(signal.reason), { once: true });
    this.#latest = null;
    return latest.text;
  }

  discard(): void {
    this.#latest?.controller.abort(new Error("more was said"));
    this.#latest?.text?.release();
    this.#latest = null;
  }
}

/** Returns a key of everything that a written reply depends on. */
function keyOf({ items, settings }: ResponseRequest): string {
  const said = items.map((item) => [item.type, item.type === "message" ? item.role : "", itemText(item)]);
  const { instructions, maxOutputTokens, voice, language } = settings;
  return JSON.stringify([said, instructions, maxOutputTokens, voice, language]);
}
