import type { AuthoredText } from "../../serving/reply/authored-text.ts";
import { itemText } from "./conversation-items.ts";
import { type GenerateResponseOptions, prepareResponse } from "./generate-response.ts";
import type { ResponseRequest } from "./session-events.ts";

type PreparedTextParts = Pick<GenerateResponseOptions, "service" | "resolve" | "model" | "keyId" | "signal">;

/**
 * The reply to a turn that is probably over, written in advance so that it can be spoken as soon as the turn is over. It is neither
 * metered nor sent before that. Language models do not write in advance: their tokens cost time or money.
 */
export class PreparedText {
  readonly #parts: PreparedTextParts;
  #latest: { readonly key: string; text: AuthoredText | null; readonly leaving: AbortController } | null =
    null;

  constructor(parts: PreparedTextParts) {
    this.#parts = parts;
  }

  /** Never rejects: a failure is thrown again to the reply. */
  async prepare(request: ResponseRequest): Promise<void> {
    const key = keyOf(request);
    if (this.#latest?.key === key) return;
    this.discard();
    const { service, resolve, model, keyId, signal } = this.#parts;
    if (service.callsTools || request.settings.modality === "text") return;
    const preparing = { key, text: null as AuthoredText | null, leaving: new AbortController() };
    this.#latest = preparing;
    try {
      const prepared = prepareResponse(request, model, 0, resolve);
      const until = AbortSignal.any([preparing.leaving.signal, signal]);
      const text = await service.beginText(prepared, keyId, until);
      if (this.#latest === preparing) preparing.text = text;
      else text.release();
    } catch {
      // The reply does the same again, and reports it.
    }
  }

  /** Returns the text that was written for a request, which has to be released, and discards one for another request. */
  take(request: ResponseRequest): AuthoredText | null {
    const { key, text } = this.#latest ?? { key: null, text: null };
    if (text === null || key !== keyOf(request)) {
      this.discard();
      return null;
    }
    this.#latest = null;
    return text;
  }

  discard(): void {
    this.#latest?.leaving.abort(new Error("more was said"));
    this.#latest?.text?.release();
    this.#latest = null;
  }
}

/** Returns what a written reply depends on. */
function keyOf({ items, settings: { instructions, maxOutputTokens } }: ResponseRequest): string {
  const said = items.map((item) => [item.type, item.type === "message" ? item.role : "", itemText(item)]);
  return JSON.stringify([said, instructions, maxOutputTokens]);
}
