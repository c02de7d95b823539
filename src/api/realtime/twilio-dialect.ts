import type { ClientEvent } from "../../contract/realtime/client-events.ts";
import type { RealtimeFormat, SessionUpdate } from "../../contract/realtime/session.ts";
import {
  type CallParameters,
  parseTwilioMessage,
  type TwilioMessage,
} from "../../contract/realtime/twilio-messages.ts";
import type { Dialect, DialectOutput, ServerEvent } from "./realtime-dialect.ts";
import { type SessionSettings, updated } from "./session-settings.ts";

/** Bytes of a millisecond: µ-law at 8 kHz. */
const BYTES_PER_MS = 8;
const SILENCE = 0xff;
/** Sound is sent in pieces of 80 ms with a mark behind each, so that what was heard is known to the piece. */
const PIECE_BYTES = 80 * BYTES_PER_MS;
/** Silence is put in for sound that is missing, but never more than time has passed, and this. */
const SLACK_MS = 1_000;
/** Less is no gap: that of a piece of Twilio's. */
const MIN_GAP_MS = 20;
/** In more, no turn goes on. */
const MAX_GAP_MS = 10_000;
/** Keys pressed in a row are told together, so long after the last. */
const KEYS_MS = 2_000;
const MAX_KEYS = 64;
/** Replies that may be played at a time; of more the oldest counts as heard. */
const MAX_PLAYING = 16;

/** What the caller is being played. */
interface Playing {
  readonly itemId: string;
  sentMs: number;
  /** That of the last mark that came back. */
  heardMs: number;
  isWhole: boolean;
}

/**
 * Twilio's Media Streams. Sound comes and goes as µ-law. The mark that came back last says what the caller has heard, and
 * `clear` throws away what Twilio still holds, so an interruption cuts the reply where the caller heard it end.
 */
export class TwilioDialect implements Dialect {
  readonly #streamSid: string;
  readonly #beganMs: number;
  #playing: Playing[] = [];
  /** Ids of items that were cleared, of which more may come until their reply is cancelled. */
  readonly #cleared = new Set<string>();
  /** Milliseconds of sound that were handed on, with the silence put in. */
  #handedMs = 0;
  /** The timestamp that the next piece of sound would have. */
  #expectedMs: number | null = null;
  #keys = "";
  #keyedAtMs = 0;

  constructor(streamSid: string, nowMs: number) {
    this.#streamSid = streamSid;
    this.#beganMs = nowMs;
  }

  read(message: Uint8Array, nowMs: number): DialectOutput | null {
    const parsed = parseTwilioMessage(message);
    switch (parsed?.event) {
      case "stop":
        return null;
      case "media": {
        const sound = this.#media(parsed.media, nowMs);
        const isKeyedOut = this.#keys !== "" && nowMs - this.#keyedAtMs >= KEYS_MS;
        const { messages, events } = isKeyedOut ? this.#pressed() : NOTHING;
        return { messages, events: [...sound, ...events] };
      }
      case "mark":
        this.#mark(parsed.mark.name);
        return NOTHING;
      case "dtmf":
        return this.#key(parsed.dtmf.digit, nowMs);
      case "start":
        throw new Error("the stream has started already");
      default:
        return NOTHING;
    }
  }

  write(event: ServerEvent): DialectOutput {
    switch (event.type) {
      case "response.output_audio.delta":
        return { messages: this.#sound(`${event.item_id}`, `${event.delta}`), events: [] };
      case "response.output_audio.done":
        for (const playing of this.#playing) if (playing.itemId === event.item_id) playing.isWhole = true;
        this.#playing = this.#playing.filter(isUnheard);
        return NOTHING;
      case "input_audio_buffer.speech_started":
        return this.#clear();
      case "response.done": {
        const done = isCancelled(event.response) ? this.#clear() : NOTHING;
        this.#cleared.clear();
        return done;
      }
      default:
        return NOTHING;
    }
  }

  // ---- from the caller

  #media(
    { track, timestamp, payload }: Extract<TwilioMessage, { event: "media" }>["media"],
    nowMs: number,
  ): readonly ClientEvent[] {
    if (track !== undefined && track !== "inbound") return [];
    const sound = Buffer.from(payload, "base64");
    const durationMs = sound.length / BYTES_PER_MS;
    const at = timestamp === undefined ? this.#expectedMs : Number(timestamp);
    const missingMs = at === null || this.#expectedMs === null ? 0 : at - this.#expectedMs;
    const passedMs = nowMs - this.#beganMs + SLACK_MS - this.#handedMs - durationMs;
    // Nothing is missing where more would be than time has passed, or where it came long ago: what comes next counts from there.
    const isClockSet = missingMs > Math.max(passedMs, MIN_GAP_MS) || missingMs < -SLACK_MS;
    const gapMs = isClockSet ? 0 : Math.floor(Math.max(0, Math.min(missingMs, passedMs, MAX_GAP_MS)));
    const silenceMs = gapMs < MIN_GAP_MS ? 0 : gapMs;
    if (at !== null) {
      const from = isClockSet ? at : Math.max(at, this.#expectedMs ?? 0);
      this.#expectedMs = from + durationMs;
    }
    this.#handedMs += silenceMs + durationMs;
    const silence = Buffer.alloc(silenceMs * BYTES_PER_MS, SILENCE);
    const audio = silenceMs === 0 ? payload : Buffer.concat([silence, sound]).toString("base64");
    return [{ type: "input_audio_buffer.append", audio }];
  }

  #mark(name: string): void {
    const [, itemId, ms] = /^(.+)\/(\d{1,15})$/.exec(name) ?? [];
    const at = this.#playing.findIndex((playing) => playing.itemId === itemId);
    const playing = this.#playing[at];
    // One of a reply that was cleared says nothing: Twilio returns the marks of what it throws away, too.
    if (playing === undefined) return;
    playing.heardMs = Math.max(playing.heardMs, Math.min(Number(ms), playing.sentMs));
    this.#playing = this.#playing.slice(at).filter(isUnheard);
  }

  #key(digit: string, nowMs: number): DialectOutput {
    this.#keys = (this.#keys + digit).slice(-MAX_KEYS);
    this.#keyedAtMs = nowMs;
    return digit === "#" ? this.#pressed() : this.#silence();
  }

  /** A key silences the reply, as a word does; also one that has begun since the key before. */
  #silence(): DialectOutput {
    const { messages, events } = this.#clear();
    return { messages, events: [...events, { type: "response.cancel" }] };
  }

  /** The keys are a turn. It is there before a reply is cancelled, since another may begin with that. */
  #pressed(): DialectOutput {
    const text = `I pressed ${[...this.#keys].join(" ")} on the keypad.`;
    this.#keys = "";
    const { messages, events } = this.#silence();
    const turn: ClientEvent = {
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    };
    return { messages, events: [turn, ...events, { type: "response.create" }] };
  }

  // ---- to the caller

  #sound(itemId: string, base64: string): readonly string[] {
    if (this.#cleared.has(itemId)) return [];
    let playing = this.#playing.find((each) => each.itemId === itemId);
    if (playing === undefined) {
      playing = { itemId, sentMs: 0, heardMs: 0, isWhole: false };
      this.#playing = [...this.#playing, playing].slice(-MAX_PLAYING);
    }
    const sound = Buffer.from(base64, "base64");
    const messages: string[] = [];
    for (let at = 0; at < sound.length; at += PIECE_BYTES) {
      const piece = sound.subarray(at, at + PIECE_BYTES);
      playing.sentMs += piece.length / BYTES_PER_MS;
      messages.push(this.#message("media", { media: { payload: piece.toString("base64") } }));
      messages.push(this.#message("mark", { mark: { name: `${itemId}/${Math.floor(playing.sentMs)}` } }));
    }
    return messages;
  }

  /** Twilio throws away what it has not played, and the session is told what the caller has heard. */
  #clear(): DialectOutput {
    if (this.#playing.length === 0) return NOTHING;
    const cut = this.#playing.map(
      ({ itemId, heardMs }): ClientEvent => ({
        type: "conversation.item.truncate",
        item_id: itemId,
        content_index: 0,
        audio_end_ms: heardMs,
      }),
    );
    for (const { itemId } of this.#playing) this.#cleared.add(itemId);
    this.#playing = [];
    return { messages: [this.#message("clear")], events: cut };
  }

  #message(event: string, fields: Readonly<Record<string, unknown>> = {}): string {
    return JSON.stringify({ event, streamSid: this.#streamSid, ...fields });
  }
}

const NOTHING: DialectOutput = { messages: [], events: [] };

function isCancelled(response: unknown): boolean {
  return response instanceof Object && "status" in response && response.status === "cancelled";
}

function isUnheard({ isWhole, heardMs, sentMs }: Playing): boolean {
  return !isWhole || heardMs < Math.floor(sentMs);
}

/** A call's settings: as the session would have them, with a telephone's sound, and what the parameters say. */
export function callSettings(
  settings: SessionSettings,
  { voice, instructions, language }: CallParameters,
): SessionSettings {
  const format: RealtimeFormat = { type: "audio/pcmu" };
  const update: SessionUpdate = {
    ...(instructions === undefined ? {} : { instructions }),
    audio: {
      input: {
        format,
        turn_detection: { type: "semantic_vad" },
        ...(language === undefined ? {} : { transcription: { language } }),
      },
      output: { format, ...(voice === undefined ? {} : { voice }) },
    },
  };
  return updated(settings, update, false);
}
