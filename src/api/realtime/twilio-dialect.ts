import type { ClientEvent } from "../../contract/realtime/client-events.ts";
import type { RealtimeFormat, SessionUpdate } from "../../contract/realtime/session.ts";
import {
  type CallParameters,
  parseTwilioMessage,
  type TwilioMessage,
} from "../../contract/realtime/twilio-messages.ts";
import { telephoneLanguage } from "../../serving/prepare/choose-language.ts";
import type { DialectOutput, RealtimeDialect, ServerEvent } from "./realtime-dialect.ts";
import { type SessionSettings, updateSettings } from "./session-settings.ts";

/** µ-law at 8 kHz. */
const BYTES_PER_MS = 8;
const SILENCE = 0xff;
/** A mark follows every 80 ms of audio, so playback is known to that precision. */
const CHUNK_BYTES = 80 * BYTES_PER_MS;
/** Lost audio is replaced by silence, but never by more than the time that has passed and this. */
const MAX_CLOCK_SKEW_MS = 1_000;
/** Shorter gaps are ignored: one Twilio packet. */
const MIN_GAP_MS = 20;
/** A turn never survives a longer gap. */
const MAX_GAP_MS = 10_000;
/** Keys pressed within this time form one turn. */
const KEYPAD_PAUSE_MS = 2_000;
const MAX_KEYS = 64;
/** Replies tracked at once. Beyond it, the oldest counts as played. */
const MAX_PLAYING = 16;

interface PlayingItem {
  readonly itemId: string;
  sentMs: number;
  playedMs: number;
  isWhole: boolean;
}

/**
 * Twilio's Media Streams: µ-law audio in both directions. The last mark returned says what the caller has played, and
 * `clear` drops what Twilio has queued, so an interruption truncates the reply where the caller stopped receiving it.
 */
export class TwilioDialect implements RealtimeDialect {
  readonly #streamSid: string;
  readonly #beganMs: number;
  #playing: PlayingItem[] = [];
  /** Ids of cleared items. More of them may arrive until their response is cancelled. */
  readonly #clearedItems = new Set<string>();
  /** Milliseconds passed to the session, including inserted silence. */
  #forwardedMs = 0;
  #expectedMs: number | null = null;
  #keys = "";
  #lastKeyAtMs = 0;

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
        const isKeypadDone = this.#keys !== "" && nowMs - this.#lastKeyAtMs >= KEYPAD_PAUSE_MS;
        const { messages, events } = isKeypadDone ? this.#keypadTurn() : NO_OUTPUT;
        return { messages, events: [...sound, ...events] };
      }
      case "mark":
        this.#mark(parsed.mark.name);
        return NO_OUTPUT;
      case "dtmf":
        return this.#dtmf(parsed.dtmf.digit, nowMs);
      case "start":
        throw new Error("the stream has started already");
      default:
        return NO_OUTPUT;
    }
  }

  write(event: ServerEvent): DialectOutput {
    switch (event.type) {
      case "response.output_audio.delta":
        return { messages: this.#audio(`${event.item_id}`, `${event.delta}`), events: [] };
      case "response.output_audio.done":
        for (const playing of this.#playing) if (playing.itemId === event.item_id) playing.isWhole = true;
        this.#playing = this.#playing.filter(isUnplayed);
        return NO_OUTPUT;
      case "input_audio_buffer.speech_started":
        return this.#clear();
      case "response.done": {
        const done = isCancelled(event.response) ? this.#clear() : NO_OUTPUT;
        this.#clearedItems.clear();
        return done;
      }
      default:
        return NO_OUTPUT;
    }
  }

  #media(
    { track, timestamp, payload }: Extract<TwilioMessage, { event: "media" }>["media"],
    nowMs: number,
  ): readonly ClientEvent[] {
    if (track !== undefined && track !== "inbound") return [];
    const sound = Buffer.from(payload, "base64");
    const durationMs = sound.length / BYTES_PER_MS;
    const at = timestamp === undefined ? this.#expectedMs : Number(timestamp);
    const missingMs = at === null || this.#expectedMs === null ? 0 : at - this.#expectedMs;
    const passedMs = nowMs - this.#beganMs + MAX_CLOCK_SKEW_MS - this.#forwardedMs - durationMs;
    // A gap longer than the time that has passed, or a packet from long ago, means that the caller's clock was set:
    // count from there.
    const isClockSet = missingMs > Math.max(passedMs, MIN_GAP_MS) || missingMs < -MAX_CLOCK_SKEW_MS;
    const gapMs = isClockSet ? 0 : Math.floor(Math.max(0, Math.min(missingMs, passedMs, MAX_GAP_MS)));
    const silenceMs = gapMs < MIN_GAP_MS ? 0 : gapMs;
    if (at !== null) {
      const from = isClockSet ? at : Math.max(at, this.#expectedMs ?? 0);
      this.#expectedMs = from + durationMs;
    }
    this.#forwardedMs += silenceMs + durationMs;
    const silence = Buffer.alloc(silenceMs * BYTES_PER_MS, SILENCE);
    const audio = silenceMs === 0 ? payload : Buffer.concat([silence, sound]).toString("base64");
    return [{ type: "input_audio_buffer.append", audio }];
  }

  #mark(name: string): void {
    const [, itemId, ms] = /^(.+)\/(\d{1,15})$/.exec(name) ?? [];
    const at = this.#playing.findIndex((playing) => playing.itemId === itemId);
    const playing = this.#playing[at];
    // Twilio also returns the marks of audio that it dropped.
    if (playing === undefined) return;
    playing.playedMs = Math.max(playing.playedMs, Math.min(Number(ms), playing.sentMs));
    this.#playing = this.#playing.slice(at).filter(isUnplayed);
  }

  #dtmf(digit: string, nowMs: number): DialectOutput {
    this.#keys = (this.#keys + digit).slice(-MAX_KEYS);
    this.#lastKeyAtMs = nowMs;
    return digit === "#" ? this.#keypadTurn() : this.#cancelResponse();
  }

  /** A key interrupts the reply as speech does, including one that began since the previous key. */
  #cancelResponse(): DialectOutput {
    const { messages, events } = this.#clear();
    return { messages, events: [...events, { type: "response.cancel" }] };
  }

  /** Makes the keys a turn. It is created before the cancellation, since another reply may begin with that. */
  #keypadTurn(): DialectOutput {
    const text = `I pressed ${[...this.#keys].join(" ")} on the keypad.`;
    this.#keys = "";
    const { messages, events } = this.#cancelResponse();
    const turn: ClientEvent = {
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text }] },
    };
    return { messages, events: [turn, ...events, { type: "response.create" }] };
  }

  #audio(itemId: string, base64: string): readonly string[] {
    if (this.#clearedItems.has(itemId)) return [];
    let playing = this.#playing.find((each) => each.itemId === itemId);
    if (playing === undefined) {
      playing = { itemId, sentMs: 0, playedMs: 0, isWhole: false };
      this.#playing = [...this.#playing, playing].slice(-MAX_PLAYING);
    }
    const sound = Buffer.from(base64, "base64");
    const messages: string[] = [];
    for (let at = 0; at < sound.length; at += CHUNK_BYTES) {
      const piece = sound.subarray(at, at + CHUNK_BYTES);
      playing.sentMs += piece.length / BYTES_PER_MS;
      messages.push(this.#message("media", { media: { payload: piece.toString("base64") } }));
      messages.push(this.#message("mark", { mark: { name: `${itemId}/${Math.floor(playing.sentMs)}` } }));
    }
    return messages;
  }

  /** Drops the audio that Twilio has queued, and reports to the session what was played. */
  #clear(): DialectOutput {
    if (this.#playing.length === 0) return NO_OUTPUT;
    const cut = this.#playing.map(
      ({ itemId, playedMs }): ClientEvent => ({
        type: "conversation.item.truncate",
        item_id: itemId,
        content_index: 0,
        audio_end_ms: playedMs,
      }),
    );
    for (const { itemId } of this.#playing) this.#clearedItems.add(itemId);
    this.#playing = [];
    return { messages: [this.#message("clear")], events: cut };
  }

  #message(event: string, fields: Readonly<Record<string, unknown>> = {}): string {
    return JSON.stringify({ event, streamSid: this.#streamSid, ...fields });
  }
}

const NO_OUTPUT: DialectOutput = { messages: [], events: [] };

function isCancelled(response: unknown): boolean {
  return response instanceof Object && "status" in response && response.status === "cancelled";
}

function isUnplayed({ isWhole, playedMs, sentMs }: PlayingItem): boolean {
  return !isWhole || playedMs < Math.floor(sentMs);
}

/** Returns a call's settings: the session's, with telephone audio and the call's parameters. */
export function callSettings(
  settings: SessionSettings,
  { voice, instructions, language }: CallParameters,
): SessionSettings {
  const format: RealtimeFormat = { type: "audio/pcmu" };
  const spoken = voice ?? settings.voice;
  const ownLanguage = telephoneLanguage(language, spoken, settings.voices.cast);
  const update: SessionUpdate = {
    ...(instructions === undefined ? {} : { instructions }),
    audio: {
      input: {
        format,
        turn_detection: { type: "semantic_vad" },
        ...(language === undefined ? {} : { transcription: { language } }),
      },
      output: {
        format,
        ...(voice === undefined ? {} : { voice }),
        ...(ownLanguage === undefined ? {} : { language: ownLanguage }),
      },
    },
  };
  return updateSettings(settings, update, false);
}
