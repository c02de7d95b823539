import assert from "node:assert/strict";
import { after, before } from "node:test";
import { type Attributes, context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { until } from "../waiting.ts";

const exporter = new InMemorySpanExporter();

/** Registers OpenTelemetry's SDK for this process, as an operator's program would before it loads the server. */
export function traceHere(): void {
  before(() => new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register());
  after(() => {
    for (const installed of [trace, propagation, context]) installed.disable();
    exporter.reset();
  });
}

/** A client's trace. */
export interface Trace {
  readonly id: string;
  readonly parentId: string;
  readonly headers: { readonly traceparent: string };
}

let traces = 0;

export function aTrace(flags = "01"): Trace {
  const id = `${++traces}`.padStart(32, "a");
  const parentId = "00f067aa0ba902b7";
  return { id, parentId, headers: { traceparent: `00-${id}-${parentId}-${flags}` } };
}

/** The finished spans of a trace. */
export class Spans {
  readonly all: readonly ReadableSpan[];

  constructor(all: readonly ReadableSpan[]) {
    this.all = all;
  }

  get names(): string[] {
    return this.all.map(({ name }) => name).sort();
  }

  /** The only span with a name. */
  of(name: string): ReadableSpan {
    const found = this.all.filter((span) => span.name === name);
    assert.equal(found.length, 1, `${found.length} spans are called ${name}: ${this.names}`);
    return found[0]!;
  }

  /** The server's span. */
  get request(): ReadableSpan {
    const [found, ...others] = this.all.filter(({ kind }) => kind === SpanKind.SERVER);
    assert.ok(found !== undefined && others.length === 0, `${this.names}`);
    return found;
  }
}

/** The spans of a trace whose request has ended. */
export async function spansOf({ id }: Trace): Promise<Spans> {
  const found = () => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === id);
  await until("the request's span to end", () => found().some(({ kind }) => kind === SpanKind.SERVER));
  return new Spans(found());
}

/** Every finished span. */
export function everySpan(): readonly ReadableSpan[] {
  return exporter.getFinishedSpans();
}

export function idOf(span: ReadableSpan): string {
  return span.spanContext().spanId;
}

/** The error types of failed spans, by name. */
export function failuresOf({ all }: Spans): Record<string, unknown> {
  const failed = all.filter(({ status }) => status.code === SpanStatusCode.ERROR);
  return Object.fromEntries(failed.map(({ name, attributes }) => [name, attributes["error.type"]]));
}

/** Attributes except times. */
export function factsOf({ attributes }: ReadableSpan): Attributes {
  const times = ["gen_ai.response.time_to_first_chunk", "antiphon.queue_ms"];
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !times.includes(name)));
}
