import type { IncomingHttpHeaders } from "node:http";
import {
  type Span as ApiSpan,
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** What is told of a span: ids, names of our own, sizes and times. Never text, audio or keys. */
export type SpanAttributes = Attributes;

/** A stretch of a request's life, for whoever traces. It is handed from call to call, like a signal. */
export interface Span {
  /** What carries the trace on to another server; empty where nobody traces. */
  readonly headers: Readonly<Record<string, string>>;
  /** `null` where nothing is recorded. */
  readonly traceId: string | null;
  /** A stretch within this one. */
  begin(name: string, facts?: SpanAttributes): Span;
  set(facts: SpanAttributes): void;
  /** What is to be told of it when it is over, and is not known before. */
  atEnd(facts: () => SpanAttributes): void;
  /** It is over. The first call counts. @param failure the type of the error that it ended in; absent, it did not */
  end(failure?: string): void;
}

/** Where nobody traces. */
export const NO_SPAN: Span = {
  headers: {},
  traceId: null,
  begin: () => NO_SPAN,
  set: () => {},
  atEnd: () => {},
  end: () => {},
};

/**
 * Begins what a server does for a request: under the trace that its headers name, or under the span of whoever has the
 * request in hand already. What else a client sends along with its trace (`baggage`) goes nowhere.
 */
export function beginServerSpan(
  name: string,
  facts: SpanAttributes,
  headers: IncomingHttpHeaders = {},
): Span {
  const active = context.active();
  const isInHand = trace.getSpan(active) !== undefined;
  const parent = propagation.deleteBaggage(isInHand ? active : propagation.extract(ROOT_CONTEXT, headers));
  return begun(name, facts, SpanKind.SERVER, parent);
}

function begun(name: string, attributes: SpanAttributes, kind: SpanKind, parent: Context): Span {
  const span = trace.getTracer("antiphon").startSpan(name, { kind, attributes }, parent);
  return isSpanContextValid(span.spanContext()) ? new TracedSpan(span, parent) : NO_SPAN;
}

class TracedSpan implements Span {
  readonly #span: ApiSpan;
  readonly #context: Context;
  #lastFacts: (() => SpanAttributes) | null = null;
  #isOver = false;

  constructor(span: ApiSpan, parent: Context) {
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    propagation.inject(this.#context, headers);
    return headers;
  }

  get traceId(): string | null {
    return this.#span.isRecording() ? this.#span.spanContext().traceId : null;
  }

  begin(name: string, facts: SpanAttributes = {}): Span {
    return begun(name, facts, SpanKind.INTERNAL, this.#context);
  }

  set(facts: SpanAttributes): void {
    if (!this.#isOver) this.#span.setAttributes(facts);
  }

  atEnd(facts: () => SpanAttributes): void {
    this.#lastFacts = facts;
  }

  end(failure?: string): void {
    if (this.#isOver) return;
    if (this.#lastFacts !== null) this.#span.setAttributes(this.#lastFacts());
    if (failure !== undefined) {
      this.#span.setAttribute("error.type", failure);
      // Without its message, which may repeat a client's words.
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#isOver = true;
    this.#span.end();
  }
}
