import type { Encoding } from "../audio/encode/encoder.ts";
import { ServiceError } from "../contract/errors.ts";
import type { Clip } from "../core/conversation.ts";
import type { Span, SpanAttributes } from "../core/span.ts";
import type { WriterTokens } from "../core/writer.ts";
import type { ResolvedRequest } from "./prepare/resolve-request.ts";
import type { UtteranceStats } from "./reply/utterance-stats.ts";
import type { UtteranceEnd } from "./telemetry.ts";

/**
 * Ends the span with the work, and rethrows its error. @param signal aborts when the client leaves, which is no
 * failure
 */
export async function inSpan<T>(span: Span, signal: AbortSignal, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    span.end();
    return value;
  } catch (error) {
    span.end(failureType(error, signal));
    throw error;
  }
}

/** Ends a request's span. A refusal is recorded, but is no error of the server. */
export function endRequestSpan(
  span: Span,
  ending: "finished" | "failed" | "left",
  failure: ServiceError | null,
  facts: SpanAttributes = {},
): void {
  span.set({ ...facts, "antiphon.end": ending, ...(failure === null ? {} : { "error.type": failure.type }) });
  span.end(failure !== null && failure.status >= 500 ? failure.type : undefined);
}

/** Returns the error's type for a span; `undefined` if the client left. */
export function failureType(error: unknown, signal: AbortSignal): string | undefined {
  if (error instanceof ServiceError) return error.type;
  if (signal.aborted && error === signal.reason) return undefined;
  return error instanceof Error ? error.name : "_OTHER";
}

// Attributes have OpenTelemetry's names where there are any.

/** Facts of every request: the provider that its client asked. Another system may do the work. */
export const PROVIDER_FACTS: SpanAttributes = { "gen_ai.provider.name": "antiphon" };

/** Returns the facts of a speech request at its beginning. */
export function speechFacts(
  { model, delivery }: ResolvedRequest,
  format: Encoding,
  isStreamed: boolean,
): SpanAttributes {
  return {
    ...PROVIDER_FACTS,
    "gen_ai.operation.name": "tts",
    "gen_ai.output.type": "speech",
    "gen_ai.request.model": model.card.id,
    "gen_ai.request.stream": isStreamed,
    "gen_ai.request.temperature": delivery.temperature,
    "antiphon.format": format,
  };
}

export function spokenFacts(stats: UtteranceStats, inputChars: number, end: UtteranceEnd): SpanAttributes {
  return {
    "gen_ai.response.finish_reasons": [end],
    ...(stats.frames === 0 ? {} : { "gen_ai.response.time_to_first_chunk": stats.firstAudioS }),
    "antiphon.audio_seconds": stats.audioS,
    "antiphon.input_chars": inputChars,
    "antiphon.queue_ms": Math.round(10_000 * stats.queuedS) / 10,
  };
}

export function writingFacts(writer: string, temperature: number): SpanAttributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.output.type": "text",
    "gen_ai.request.model": writer,
    "gen_ai.request.temperature": temperature,
  };
}

export function writtenFacts(tokens: WriterTokens | null): SpanAttributes {
  if (tokens === null) return {};
  return { "gen_ai.usage.input_tokens": tokens.prompt, "gen_ai.usage.output_tokens": tokens.written };
}

export function recognitionFacts(recogniser: string, { durationS }: Pick<Clip, "durationS">): SpanAttributes {
  return {
    "gen_ai.operation.name": "stt",
    "gen_ai.output.type": "text",
    "gen_ai.request.model": recogniser,
    "antiphon.input_audio_seconds": durationS,
  };
}
