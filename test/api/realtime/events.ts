import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import { RealtimeSession, type SessionOptions } from "../../../src/api/realtime/realtime-session.ts";
import type { SessionEffect, SessionEvent } from "../../../src/api/realtime/session-events.ts";
import {
  defaultSettings,
  type SessionSettings,
  type SessionVoices,
} from "../../../src/api/realtime/session-settings.ts";
import type { ClientEvent } from "../../../src/contract/realtime/client-events.ts";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { assertKnownToClients } from "./client-schemas.ts";

/** What the voice of a session may be: the default model's, and a recording. */
export const VOICES: SessionVoices = { cast: PUBLIC_MODELS[0]!.card, own: ["Anna"] };

/** Samples of a window at 16 kHz, and what it lasts. */
export const WINDOW = 512;
export const WINDOW_MS = 32;

/** A session on a table: what it is told, at which time, and what it wants done. */
export class Table {
  readonly session: RealtimeSession;
  readonly effects: SessionEffect[] = [];
  nowMs = 1_000;
  appended = 0;

  constructor(settings: Partial<SessionSettings> = {}, options: Pick<SessionOptions, "callsTools"> = {}) {
    let ids = 0;
    this.session = new RealtimeSession({
      settings: { ...defaultSettings("svc-beta-v0.3", VOICES), ...settings },
      newId: (prefix) => `${prefix}${++ids}`,
      ...options,
    });
    this.effects.push(...this.session.begin());
  }

  tell(event: SessionEvent): readonly SessionEffect[] {
    const effects = this.session.step(event, this.nowMs);
    sentIn(effects);
    this.effects.push(...effects);
    return effects;
  }

  client(event: ClientEvent): readonly SessionEffect[] {
    return this.tell({ type: "client_event", event, appended: this.appended });
  }

  /** So many windows with that probability of speech, in real time. */
  windows(count: number, probability: number): readonly SessionEffect[] {
    return Array.from({ length: count }, () => {
      const from = this.appended;
      this.nowMs += WINDOW_MS;
      this.appended += WINDOW;
      return this.tell({ type: "speech_probabilities", probabilities: [probability], from });
    }).flat();
  }

  /** The recogniser's answer to the newest question. */
  heard(text: string | null): readonly SessionEffect[] {
    const asked = this.effects.findLast((effect) => effect.type === "transcribe");
    if (asked?.type !== "transcribe") throw new Error("nothing is to be recognised");
    return this.tell({ type: "transcript", revision: asked.revision, text, seconds: 1 });
  }

  /** Somebody says something, to its end. */
  turn(text: string): void {
    this.windows(20, 0.99);
    this.windows(20, 0.01);
    this.heard(text);
  }

  get responseId(): string {
    const asked = this.effects.findLast((effect) => effect.type === "respond");
    if (asked?.type !== "respond") throw new Error("no reply was asked for");
    return asked.request.responseId;
  }

  /** Some of the newest reply: a word of 400 ms, which is told in time for its playing. */
  says(word: string, atWord: number): readonly SessionEffect[] {
    const sound = {
      base64: "AAAA",
      durationMs: 400,
      words: [{ endMs: 400 * (atWord + 1), endsAt: (word.length + 1) * atWord + word.length }],
    };
    const text = atWord === 0 ? word : ` ${word}`;
    return this.tell({ type: "response_delta", responseId: this.responseId, delta: { text, audio: sound } });
  }

  ends(): readonly SessionEffect[] {
    const usage = { inputTokens: 1, textTokens: 1, audioTokens: 5 };
    return this.tell({
      type: "response_ended",
      responseId: this.responseId,
      end: { type: "completed", usage },
    });
  }

  get sent(): readonly ServerEvent[] {
    return sentIn(this.effects);
  }

  get types(): readonly string[] {
    return this.sent.map(({ type }) => type);
  }
}

/** What is sent, which every client has to take. */
export function sentIn(effects: readonly SessionEffect[]): readonly ServerEvent[] {
  const sent = effects.flatMap((effect) => (effect.type === "send" ? [effect.event] : []));
  for (const event of sent) assertKnownToClients(event);
  return sent;
}

export function typesIn(effects: readonly SessionEffect[]): readonly string[] {
  return sentIn(effects).map(({ type }) => type);
}
