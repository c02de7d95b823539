import { AntiphonError, type AntiphonErrorType } from "./antiphon-error.ts";
import type { Answer, CallOptions } from "./connection.ts";
import { readEvents, type SentEvent } from "./read-events.ts";
import { pcmOf } from "./samples.ts";
import type { StreamEvent } from "./stream-events.ts";

/** Asks for a streamed reply when its first event is asked for. Leaving it, at any time, closes the connection. */
export function readReply(
  ask: (options: CallOptions) => Promise<Answer>,
  options: CallOptions,
): AsyncIterableIterator<StreamEvent> {
  const leaving = new AbortController();
  const events = eventsOf(ask, options, leaving);
  return {
    next: () => events.next(),
    return() {
      // A generator is not left before what it waits for has come.
      leaving.abort(LEFT);
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

const LEFT = new Error("the reply was left");

async function* eventsOf(
  ask: (options: CallOptions) => Promise<Answer>,
  options: CallOptions,
  leaving: AbortController,
): AsyncGenerator<StreamEvent, void, void> {
  const caller = options.signal;
  const follow = () => leaving.abort(caller?.reason);
  caller?.addEventListener("abort", follow);
  if (caller?.aborted) follow();
  let answer: Answer | undefined;
  try {
    answer = await ask({ ...options, signal: leaving.signal });
    const requestId = answer.headers.get("x-request-id");
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      throw invalid("the answer is no stream of events: is baseUrl right?", requestId);
    }
    for await (const sent of readEvents(answer.chunks())) {
      const event = eventOf(sent, requestId);
      if (event !== null) yield event;
      if (event?.event === "end") return;
    }
    throw new AntiphonError("connection_error", "the reply ended before its last event", {
      status: 200,
      requestId,
    });
  } catch (error) {
    if (error !== LEFT) throw error;
  } finally {
    caller?.removeEventListener("abort", follow);
    answer?.end();
  }
}

/** An event with what it holds; null for one of a kind that is not known here. Throws what an `error` event tells. */
function eventOf({ event, data }: SentEvent, requestId: string | null): StreamEvent | null {
  if (event !== "meta" && event !== "audio" && event !== "end" && event !== "error") return null;
  let failure: { type: AntiphonErrorType; message: string };
  try {
    const value = JSON.parse(data);
    if (Object(value) !== value) throw new TypeError("no object");
    if (event === "audio") return { event, data: value, pcm: pcmOf(value.pcm_b64) };
    if (event !== "error") return { event, data: value };
    failure = value;
  } catch (cause) {
    throw invalid(`an event "${event}" of the reply cannot be read`, requestId, cause);
  }
  throw new AntiphonError(failure.type, failure.message, { status: 200, requestId });
}

function invalid(message: string, requestId: string | null, cause?: unknown): AntiphonError {
  return new AntiphonError("invalid_response", message, { status: 200, requestId, cause });
}
