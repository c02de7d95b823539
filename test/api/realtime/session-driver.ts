import assert from "node:assert/strict";
import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import type { ResponseDelta } from "../../../src/api/realtime/realtime-response.ts";
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

/** The default model's voices, and a recording. */
export const VOICES: SessionVoices = { cast: PUBLIC_MODELS[0]!.card, own: ["Anna"] };

/** Samples of a window at 16 kHz, and its duration. */
const WINDOW = 512;
export const WINDOW_MS = 32;

type UpdatedSession = Extract<ClientEvent, { readonly type: "session.update" }>["session"];

/** Drives a session whose time, sound and parts are scripted, and checks every event that it sends. */
export class SessionDriver {
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

  step(event: SessionEvent): readonly SessionEffect[] {
    const effects = this.session.step(event, this.nowMs);
    sentIn(effects);
    this.effects.push(...effects);
    return effects;
  }

  client(event: ClientEvent): readonly SessionEffect[] {
    return this.step({ type: "client_event", event, appended: this.appended });
  }

  update(session: UpdatedSession): readonly SessionEffect[] {
    return this.client({ type: "session.update", session });
  }

  commit(): readonly SessionEffect[] {
    return this.client({ type: "input_audio_buffer.commit" });
  }

  respond(): readonly SessionEffect[] {
    return this.client({ type: "response.create" });
  }

  wake(): readonly SessionEffect[] {
    return this.step({ type: "timer", isBehind: false });
  }

  /** Passes windows with this probability of speech, in real time. */
  windows(count: number, probability: number): readonly SessionEffect[] {
    return Array.from({ length: count }, () => {
      const from = this.appended;
      this.nowMs += WINDOW_MS;
      this.appended += WINDOW;
      return this.step({ type: "speech_probabilities", probabilities: [probability], from });
    }).flat();
  }

  /** Answers a `transcribe` effect, by default the newest. */
  transcript(
    text: string | null,
    { revision } = effectIn(this.effects, "transcribe"),
  ): readonly SessionEffect[] {
    return this.step({ type: "transcript", revision, text, seconds: 1 });
  }

  /** Plays a whole turn of the user, with its transcript. */
  userTurn(text: string): void {
    this.windows(20, 0.99);
    this.windows(20, 0.01);
    this.transcript(text);
  }

  get responseId(): string {
    return effectIn(this.effects, "respond").request.responseId;
  }

  delta(delta: Partial<ResponseDelta>): readonly SessionEffect[] {
    const { responseId } = this;
    return this.step({ type: "response_delta", responseId, delta: { text: "", audio: null, ...delta } });
  }

  /** Sends a word of the newest reply, which lasts 400 ms, before it is due. */
  replyWord(word: string, atWord: number): readonly SessionEffect[] {
    const words = [{ endMs: 400 * (atWord + 1), endsAt: (word.length + 1) * atWord + word.length }];
    const text = atWord === 0 ? word : ` ${word}`;
    return this.delta({ text, audio: { base64: "AAAA", durationMs: 400, words } });
  }

  replyWords(...words: readonly string[]): void {
    for (const [at, word] of words.entries()) this.replyWord(word, at);
  }

  completeReply(usage = { inputTokens: 1, textTokens: 1, audioTokens: 5 }): readonly SessionEffect[] {
    const { responseId } = this;
    return this.step({ type: "response_ended", responseId, end: { type: "completed", usage } });
  }

  get sent(): readonly ServerEvent[] {
    return sentIn(this.effects);
  }

  get types(): readonly string[] {
    return this.sent.map(({ type }) => type);
  }
}

/** The events sent, each checked against the clients' schemas. */
export function sentIn(effects: readonly SessionEffect[]): readonly ServerEvent[] {
  const sent = effects.flatMap((effect) => (effect.type === "send" ? [effect.event] : []));
  for (const event of sent) assertKnownToClients(event);
  return sent;
}

export function typesIn(effects: readonly SessionEffect[]): readonly string[] {
  return sentIn(effects).map(({ type }) => type);
}

/** The last effect of a type. Fails where there is none. */
export function effectIn<T extends SessionEffect["type"]>(effects: readonly SessionEffect[], type: T) {
  const found = effects.findLast((effect) => effect.type === type);
  return (found ?? assert.fail(`no effect ${type}`)) as Extract<SessionEffect, { readonly type: T }>;
}

export function requestsIn(effects: readonly SessionEffect[]) {
  return effects.flatMap((effect) => (effect.type === "respond" ? [effect.request] : []));
}

/** The error that is the first event sent. */
export function errorIn(effects: readonly SessionEffect[]) {
  return sentIn(effects)[0]!.error as Readonly<
    Record<"type" | "code" | "message" | "param" | "event_id", string>
  >;
}
