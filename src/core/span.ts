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

/** Ids, names from a fixed set, sizes and times. Never text, audio or keys. */
export type SpanAttributes = Attributes;

/** A section of a request for tracing. Passed from call to call, like a signal. */
export interface Span {
  /** Headers that propagate the trace to another server; empty without tracing. */
  readonly headers: Readonly<Record<string, string>>;
  /** `null` if not recorded. */
  readonly traceId: string | null;
  /** Begins a child span. */
  begin(name: string, facts?: SpanAttributes): Span;
  set(facts: SpanAttributes): void;
  /** Provides attributes that are only known at the end. */
  atEnd(facts: () => SpanAttributes): void;
  /**
   * Ends the span once; later calls do nothing.
   * @param failure error type, if it failed
   */
  end(failure?: string): void;
}

/** Used when tracing is off. */
export const NO_SPAN: Span = {
  headers: {},
  traceId: null,
  begin: () => NO_SPAN,
  set: () => {},
  atEnd: () => {},
  end: () => {},
};

/**
 * Begins the span of a request, as a child of the active span or of the trace in its headers. The client's `baggage`
 * is not propagated.
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
      // Without a message, which may repeat a client's words.
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#isOver = true;
    this.#span.end();
  }
}
