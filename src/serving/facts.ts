import type { Encoding } from "../audio/encode/encoder.ts";
import type { Clip } from "../model/conversation.ts";
import type { WriterTokens } from "../model/writer.ts";
import type { Facts } from "../tracing/span.ts";
import type { Prepared } from "./prepare.ts";
import type { UtteranceEnd } from "./telemetry.ts";
import type { UtteranceStats } from "./utterance-stats.ts";

// By OpenTelemetry's names where it has any.

/** Of every request: whom its client asked. Who then speaks, writes or hears may be somebody else. */
export const ASKED: Facts = { "gen_ai.provider.name": "antiphon" };

/** Of a request to speak, from its beginning. */
export function speechFacts({ model, delivery }: Prepared, format: Encoding, isStreamed: boolean): Facts {
  return {
    ...ASKED,
    "gen_ai.operation.name": "tts",
    "gen_ai.output.type": "speech",
    "gen_ai.request.model": model.card.id,
    "gen_ai.request.stream": isStreamed,
    "gen_ai.request.temperature": delivery.temperature,
    "antiphon.format": format,
  };
}

/** Of the same at its end. */
export function spokenFacts(tally: UtteranceStats, inputChars: number, end: UtteranceEnd): Facts {
  return {
    "gen_ai.response.finish_reasons": [end],
    ...(tally.frames === 0 ? {} : { "gen_ai.response.time_to_first_chunk": tally.firstAudioS }),
    "antiphon.audio_seconds": tally.audioS,
    "antiphon.input_chars": inputChars,
    "antiphon.queue_ms": Math.round(10_000 * tally.queuedS) / 10,
  };
}

/** Of the writing of a turn. */
export function writingFacts(writer: string, temperature: number): Facts {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.output.type": "text",
    "gen_ai.request.model": writer,
    "gen_ai.request.temperature": temperature,
  };
}

/** Of the same at its end: what it took where somebody counts. */
export function writtenFacts(tokens: WriterTokens | null): Facts {
  if (tokens === null) return {};
  return { "gen_ai.usage.input_tokens": tokens.prompt, "gen_ai.usage.output_tokens": tokens.written };
}

/** Of the hearing of a clip. */
export function hearingFacts(recogniser: string, { durationS }: Pick<Clip, "durationS">): Facts {
  return {
    "gen_ai.operation.name": "stt",
    "gen_ai.output.type": "text",
    "gen_ai.request.model": recogniser,
    "antiphon.input_audio_seconds": durationS,
  };
}
