import type { AntiphonErrorType } from "./antiphon-error.ts";
import { type Answer, BROKEN_OFF, MAX_BYTES } from "./connection.ts";
import { following } from "./exchange.ts";
import { readEvents, type SentEvent } from "./read-events.ts";
import { pcmOf } from "./samples.ts";
import type { StreamEvent } from "./stream-events.ts";

/** Asks for a streamed reply when its first event is asked for. Leaving it, at any time, closes the connection. */
export function readReply(
  ask: (signal: AbortSignal) => Promise<Answer>,
  caller: AbortSignal | undefined,
): AsyncIterableIterator<StreamEvent> {
  let leave = () => {};
  async function* read(): AsyncGenerator<StreamEvent, void, void> {
    const { leaving, unfollow } = following(caller);
    leave = () => leaving.abort(leave);
    let answer: Answer | undefined;
    try {
      answer = await ask(leaving.signal);
      yield* eventsOf(answer);
    } catch (error) {
      if (error !== leave) throw error;
    } finally {
      unfollow();
      answer?.end();
    }
  }
  const events = read();
  const leaveAtNextEvent = events.return.bind(events);
  // A generator is not left before what it waits for has come.
  events.return = () => {
    leave();
    return leaveAtNextEvent();
  };
  return events;
}

async function* eventsOf(answer: Answer): AsyncGenerator<StreamEvent, void, void> {
  if (!answer.mediaType.startsWith("text/event-stream")) {
    throw answer.failure("invalid_response", "the answer is no stream of events: is baseUrl right?");
  }
  for await (const sent of readEvents(answer.chunks())) {
    answer.leftBytes = MAX_BYTES;
    const event = eventOf(sent, answer);
    if (event !== null) yield event;
    if (event?.event === "end") return;
  }
  throw answer.failure("connection_error", BROKEN_OFF);
}

/** An event with what it holds; null for one of a kind that is not known here. Throws what an `error` event tells. */
function eventOf({ event, data }: SentEvent, { failure }: Answer): StreamEvent | null {
  if (!/^(meta|audio|end|error)$/.test(event)) return null;
  let told: { type: AntiphonErrorType; message: string };
  try {
    const value = JSON.parse(data);
    if (Object(value) !== value) throw new TypeError();
    if (event === "audio") return { event, data: value, pcm: pcmOf(value.pcm_b64) };
    if (event !== "error") return { event: event as "meta" | "end", data: value };
    told = value;
  } catch (cause) {
    throw failure("invalid_response", `an event "${event}" of the reply cannot be read`, { cause });
  }
  throw failure(told.type, told.message);
}
