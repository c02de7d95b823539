import type { Encoding } from "../../audio/encode/encoder.ts";
import type { RealtimeFormat } from "../../contract/realtime/session.ts";
import { abortable } from "../../core/abortable.ts";
import type { ToolCall, WriterTokens } from "../../core/writer.ts";
import type { ResolveModel } from "../../serving/prepare/prepare.ts";
import { NO_OUTCOME, type SpeechRequest, type SpeechService } from "../../serving/reply/service.ts";
import type { SpokenPiece } from "../../serving/reply/spoken-piece.ts";
import type { WrittenReply } from "../../serving/reply/written-reply.ts";
import { prepareReply } from "./prepare-reply.ts";
import { ReplyOrder } from "./reply-order.ts";
import type { ReplyEnd, Spoken } from "./response.ts";
import type { ResponseRequest } from "./session-events.ts";
import type { TurnMeter } from "./turn-meter.ts";

export interface MakingParts extends Pick<SpeechRequest, "keyId" | "span" | "signal"> {
  readonly service: SpeechService;
  readonly resolve: ResolveModel;
  /** The public id that the session's model resolved to; `null` is the default. */
  readonly model: string | null;
  /** Turns that are metered with the reply. */
  readonly turns: TurnMeter;
  /** Told of the reply piece by piece, in order. */
  readonly tell: (spoken: Spoken) => void;
  /** Resolves when the client has room for more. */
  readonly hasRoom: () => Promise<void>;
}

/** Replies are made so far ahead of their playing: what is cut was not made for nobody. */
const MAX_AHEAD_S = 2;

const ENCODINGS: Readonly<Record<RealtimeFormat["type"], Encoding>> = {
  "audio/pcm": "pcm",
  "audio/pcmu": "mulaw",
  "audio/pcma": "alaw",
};

/** Makes one reply, and says how it ended. Throws a `ServiceError`, or the reason of the signal. */
export async function makeReply(request: ResponseRequest, parts: MakingParts): Promise<ReplyEnd> {
  const turns = parts.turns.take();
  const teller = new Teller(parts.tell);
  try {
    const prepared = prepareReply(request, parts.model, turns.seconds, parts.resolve);
    const { keyId, span, signal, service } = parts;
    const { order } = teller;
    const who = { keyId, span, signal, onMetered: () => turns.metered() };
    if (request.settings.modality === "text") {
      const writing = service.write(prepared, { ...who, onCall: (call, at) => order.call(call, at) });
      return await written(writing, teller, parts);
    }
    const { type } = request.settings.outputFormat;
    const speech = service.converse(prepared, {
      ...who,
      encoding: ENCODINGS[type],
      takesAudioAsItComes: true,
      isPlayed: true,
      // Whoever is to carry a call out need not wait until what was said before it is played.
      get maxAheadS() {
        return order.hasCall ? Number.POSITIVE_INFINITY : MAX_AHEAD_S;
      },
      onSentence: (text) => order.sentence(text),
      onCall: (call, at) => order.call(call, at),
    });
    return await spoken(speech, teller, type === "audio/pcm" ? 48 : 8, parts);
  } finally {
    turns.release();
  }
}

async function spoken(
  speech: ReturnType<SpeechService["converse"]>,
  teller: Teller,
  bytesPerMs: number,
  { hasRoom, signal }: MakingParts,
): Promise<ReplyEnd> {
  const { order } = teller;
  try {
    for (;;) {
      const step = await speech.next();
      if (step.done) {
        const { meta, frames, tokens } = step.value;
        if (meta.stop !== "length") teller.rest();
        return endOf(meta.stop, frames, order.length, tokens);
      }
      const { words } = step.value.marks;
      const until = words === undefined ? order.length : (words.at(-1)?.offset ?? -1);
      // A sentence is told with the first sound of it.
      teller.tell(order.take(until), soundOf(step.value, bytesPerMs));
      await abortable(hasRoom(), signal);
    }
  } finally {
    // Whatever it holds is given back, also where it was left in the middle.
    await speech.return(NO_OUTCOME);
  }
}

/** A reply in text alone. */
async function written(
  writing: ReturnType<SpeechService["write"]>,
  teller: Teller,
  { hasRoom, signal }: MakingParts,
): Promise<ReplyEnd> {
  const { order } = teller;
  try {
    for (;;) {
      const step = await writing.next();
      if (step.done) {
        const { stop, tokens } = step.value;
        if (stop !== "length") teller.rest();
        return endOf(stop, 0, order.length, tokens);
      }
      order.sentence(step.value);
      teller.tell(order.take(order.length), null);
      await abortable(hasRoom(), signal);
    }
  } finally {
    await writing.return(NOTHING_WRITTEN);
  }
}

function soundOf({ bytes, marks: { words = [] } }: SpokenPiece, bytesPerMs: number): Spoken["sound"] {
  return {
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    durationMs: bytes.length / bytesPerMs,
    words: words.map(({ end, offset, length }) => ({ endMs: 1_000 * end, endsAt: offset + length })),
    marks: words,
  };
}

/** Tells the words and the calls of a reply in their order. */
class Teller {
  readonly order = new ReplyOrder();
  readonly #tell: (spoken: Spoken) => void;

  constructor(tell: (spoken: Spoken) => void) {
    this.#tell = tell;
  }

  /** The sound comes with the words behind the last call. */
  tell(parts: readonly (string | ToolCall)[], sound: Spoken["sound"]): void {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      if (text !== "") this.#tell({ text, sound: null });
      text = "";
      this.#tell({ text, sound: null, call: part });
    }
    if (text !== "" || sound !== null) this.#tell({ text, sound });
  }

  /** What no sound was there to be told with, such as a sentence in which no word is spoken, and the last calls. */
  rest(): void {
    this.tell([...this.order.take(Number.POSITIVE_INFINITY), ...this.order.takeCalls()], null);
  }
}

const NOTHING_WRITTEN: WrittenReply = { text: "", stop: "finished", tokens: null };

/** Where the writer counts no tokens, four characters are taken for one. */
function endOf(stop: unknown, frames: number, chars: number, tokens: WriterTokens | null): ReplyEnd {
  const usage = {
    inputTokens: tokens?.prompt ?? 0,
    textTokens: tokens?.written ?? Math.ceil(chars / 4),
    audioTokens: frames,
  };
  if (stop === "length") return { type: "incomplete", reason: "max_output_tokens", usage };
  return { type: "completed", usage };
}
