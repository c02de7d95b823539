import type { Encoding } from "../../audio/encode/encoder.ts";
import { MAX_NEW_TOKENS, MAX_TEXT_CHARS, MAX_TURNS, MIN_NEW_TOKENS } from "../../contract/limits.ts";
import { MAX_SESSION_INSTRUCTIONS_CHARS, type RealtimeFormat } from "../../contract/realtime/session.ts";
import { abortable } from "../../core/abortable.ts";
import type { EarlierCall, ToolCall, ToolUse, WriterTokens } from "../../core/writer.ts";
import { chooseLanguage } from "../../serving/prepare/choose-language.ts";
import { chooseSpeaker } from "../../serving/prepare/choose-voice.ts";
import {
  type ResolvedRequest,
  type ResolveModel,
  resolveConverse,
} from "../../serving/prepare/resolve-request.ts";
import type { AuthoredText, WrittenReply } from "../../serving/reply/authored-text.ts";
import type { ReplyChunk } from "../../serving/reply/reply-chunk.ts";
import {
  ABANDONED_OUTCOME,
  type SpeechRequest,
  type SpeechService,
} from "../../serving/reply/speech-service.ts";
import { type ConversationItem, itemText, type MessageItem } from "./conversation-items.ts";
import type { ResponseDelta, ResponseEnd } from "./realtime-response.ts";
import type { ResponseRequest } from "./session-events.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { TurnMeter } from "./turn-meter.ts";

export interface GenerateResponseOptions extends Pick<SpeechRequest, "keyId" | "span" | "signal"> {
  readonly service: SpeechService;
  readonly resolve: ResolveModel;
  /** The session's public model id; `null` is the default model. */
  readonly model: string | null;
  readonly turns: TurnMeter;
  readonly onDelta: (delta: ResponseDelta) => void;
  readonly hasRoom: () => Promise<void>;
  /** The reply's text, if it was begun in advance. */
  readonly preparedText: AuthoredText | null;
}

/** Seconds of audio generated ahead of playback: limits what an interruption wastes. */
const MAX_AHEAD_S = 2;

const ENCODINGS: Readonly<Record<RealtimeFormat["type"], Encoding>> = {
  "audio/pcm": "pcm",
  "audio/pcmu": "mulaw",
  "audio/pcma": "alaw",
};

/** Generates one response. Throws a `ServiceError`, or the signal's reason. */
export async function generateResponse(
  request: ResponseRequest,
  parts: GenerateResponseOptions,
): Promise<ResponseEnd> {
  const turns = parts.turns.claim();
  const writer = new DeltaWriter(parts.onDelta);
  try {
    const prepared = prepareResponse(request, parts.model, turns.seconds, parts.resolve);
    const { keyId, span, signal, service } = parts;
    const { order } = writer;
    const caller = { keyId, span, signal, onMetered: () => turns.markMetered() };
    if (request.settings.modality === "text") {
      const writing = service.write(prepared, { ...caller, onCall: (call, at) => order.call(call, at) });
      return await generateText(writing, writer, parts);
    }
    const { type } = request.settings.outputFormat;
    const speech = service.speak(prepared, {
      ...caller,
      preparedText: parts.preparedText,
      encoding: ENCODINGS[type],
      isStreamed: true,
      isPlayed: true,
      // A function call need not wait until the words before it are played.
      get maxAheadS() {
        return order.hasCall ? Number.POSITIVE_INFINITY : MAX_AHEAD_S;
      },
      onSentence: (text) => order.sentence(text),
      onCall: (call, at) => order.call(call, at),
    });
    return await generateAudio(speech, writer, type === "audio/pcm" ? 48 : 8, parts);
  } finally {
    turns.release();
  }
}

async function generateAudio(
  speech: ReturnType<SpeechService["speak"]>,
  writer: DeltaWriter,
  bytesPerMs: number,
  { hasRoom, signal }: GenerateResponseOptions,
): Promise<ResponseEnd> {
  const { order } = writer;
  try {
    for (;;) {
      const step = await speech.next();
      if (step.done) {
        const { meta, frames, tokens } = step.value;
        if (meta.stop !== "length") writer.flush();
        return endOf(meta.stop, frames, order.length, tokens);
      }
      const { words } = step.value.marks;
      const until = words === undefined ? order.length : (words.at(-1)?.offset ?? -1);
      // A sentence is sent with its first audio.
      writer.write(order.take(until), audioOf(step.value, bytesPerMs));
      await abortable(hasRoom(), signal);
    }
  } finally {
    // Releases the generator's resources if the loop ended early.
    await speech.return(ABANDONED_OUTCOME);
  }
}

async function generateText(
  writing: ReturnType<SpeechService["write"]>,
  writer: DeltaWriter,
  { hasRoom, signal }: GenerateResponseOptions,
): Promise<ResponseEnd> {
  const { order } = writer;
  try {
    for (;;) {
      const step = await writing.next();
      if (step.done) {
        const { stop, tokens } = step.value;
        if (stop !== "length") writer.flush();
        return endOf(stop, 0, order.length, tokens);
      }
      order.sentence(step.value);
      writer.write(order.take(order.length), null);
      await abortable(hasRoom(), signal);
    }
  } finally {
    await writing.return(ABANDONED_TEXT);
  }
}

function audioOf({ bytes, marks: { words = [] } }: ReplyChunk, bytesPerMs: number): ResponseDelta["audio"] {
  return {
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
    durationMs: bytes.length / bytesPerMs,
    words: words.map(({ end, offset, length }) => ({ endMs: 1_000 * end, endsAt: offset + length })),
    marks: words,
  };
}

class DeltaWriter {
  readonly order = new OutputQueue();
  readonly #onDelta: (delta: ResponseDelta) => void;

  constructor(onDelta: (delta: ResponseDelta) => void) {
    this.#onDelta = onDelta;
  }

  /** Sends the audio with the text after the last call. */
  write(parts: readonly (string | ToolCall)[], audio: ResponseDelta["audio"]): void {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      if (text !== "") this.#onDelta({ text, audio: null });
      text = "";
      this.#onDelta({ text, audio: null, call: part });
    }
    if (text !== "" || audio !== null) this.#onDelta({ text, audio });
  }

  /** Sends what no audio accompanied: sentences without spoken words, and the last calls. */
  flush(): void {
    this.write([...this.order.take(Number.POSITIVE_INFINITY), ...this.order.takeCalls()], null);
  }
}

const ABANDONED_TEXT: WrittenReply = { text: "", stop: "finished", tokens: null };

/** Counts four characters as a token if the writer reports none. */
function endOf(stop: unknown, frames: number, chars: number, tokens: WriterTokens | null): ResponseEnd {
  const usage = {
    inputTokens: tokens?.prompt ?? 0,
    textTokens: tokens?.written ?? Math.ceil(chars / 4),
    audioTokens: frames,
  };
  if (stop === "length") return { type: "incomplete", reason: "max_output_tokens", usage };
  return { type: "completed", usage };
}

/** Written sentences and function calls that are not yet sent. Positions are code points. */
export class OutputQueue {
  readonly #sentences: { readonly text: string; readonly from: number }[] = [];
  readonly #calls: { readonly call: ToolCall; readonly at: number }[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get hasCall(): boolean {
    return this.#calls.length > 0;
  }

  sentence(text: string): void {
    this.#sentences.push({ text, from: this.#length });
    this.#length += [...text].length;
  }

  /** @param at start of the sentence after the call, which may not be written yet */
  call(call: ToolCall, at: number): void {
    this.#calls.push({ call, at });
  }

  /** Takes the sentences that start no later than `until`, and the calls before them. */
  take(until: number): (string | ToolCall)[] {
    const taken: (string | ToolCall)[] = [];
    while (this.#sentences[0] !== undefined && this.#sentences[0].from <= until) {
      const { text, from } = this.#sentences.shift()!;
      taken.push(...this.#callsUpTo(from), text);
    }
    return taken;
  }

  takeCalls(): ToolCall[] {
    return this.#callsUpTo(Number.POSITIVE_INFINITY);
  }

  #callsUpTo(at: number): ToolCall[] {
    const count = this.#calls.findIndex((each) => each.at > at);
    return this.#calls.splice(0, count < 0 ? this.#calls.length : count).map(({ call }) => call);
  }
}

/**
 * Builds the request for a response: an authored turn after the conversation. Throws a `ServiceError` for what is not
 * available.
 *
 * @param model the session's resolved model id; `null` is the default model
 * @param inputAudioS seconds of audio metered with the response
 */
export function prepareResponse(
  { items, settings }: ResponseRequest,
  model: string | null,
  inputAudioS: number,
  resolve: ResolveModel,
): ResolvedRequest {
  const { voice, language } = settings;
  const { card: cast } = chooseLanguage(language, settings.voices.cast);
  const { speakers } = cast;
  const { speaker: named } = chooseSpeaker(voice, "voice", cast);
  const speaker = named ?? speakers[0] ?? "0";
  const other = speakers.find((label) => label !== speaker) ?? speaker;
  const all = items.flatMap((item) => turnOf(item, speaker, other));
  const said = all.slice(1 - MAX_TURNS);
  const voices = named === undefined ? { voices: { [speaker]: voice } } : {};
  const asked = { conversation: [...said, { speaker }], model, language, ...voices };
  const prepared = resolveConverse(asked, resolve);
  const { maxOutputTokens, speed: rate } = settings;
  const maxFrames = maxOutputTokens === "inf" ? MAX_NEW_TOKENS : Math.max(MIN_NEW_TOKENS, maxOutputTokens);
  const toolUse = toolUseOf(items, settings, all.length - said.length);
  const readChars = toolUse?.calls.reduce((sum, call) => sum + (call.output?.length ?? 0), 0) ?? 0;
  const isWritten = settings.modality === "text" && maxOutputTokens !== "inf";
  return {
    ...prepared,
    input: { chars: prepared.input.chars + readChars, audioS: inputAudioS },
    preset: rate === 1 ? prepared.preset : { ...prepared.preset, rate },
    delivery: { ...prepared.delivery, maxFrames },
    instructions: instructionsOf(items, settings),
    ...(toolUse === null ? {} : { toolUse }),
    ...(isWritten ? { maxTokens: maxOutputTokens } : {}),
  };
}

/** Returns the callable functions and the earlier calls with their outputs; `null` without either. */
function toolUseOf(
  items: readonly ConversationItem[],
  { tools, toolChoice }: SessionSettings,
  forgottenTurns: number,
): ToolUse | null {
  const calls: { -readonly [K in keyof EarlierCall]: EarlierCall[K] }[] = [];
  let turns = -forgottenTurns;
  for (const item of items) {
    if (item.type === "function_call") {
      const { callId, name } = item;
      calls.push({ callId, name, arguments: item.arguments, output: null, turnsBefore: turns });
    } else if (item.type === "function_call_output") {
      // Call ids may repeat: an output belongs to the newest call that has none.
      const call = calls.findLast(({ callId, output }) => callId === item.callId && output === null);
      if (call !== undefined) call.output = item.output;
    } else if (isTurn(item)) turns += 1;
  }
  const kept = calls.filter(({ turnsBefore }) => turnsBefore >= 0);
  return tools.length === 0 && kept.length === 0 ? null : { tools, choice: toolChoice, calls: kept };
}

function turnOf(item: ConversationItem, speaker: string, other: string): { speaker: string; text: string }[] {
  if (!isTurn(item)) return [];
  const text = itemText(item)?.trim() ?? "";
  // A text over the limit keeps its end, which matters most.
  return [{ speaker: item.role === "assistant" ? speaker : other, text: text.slice(-MAX_TEXT_CHARS) }];
}

function isTurn(item: ConversationItem): item is MessageItem {
  return item.type === "message" && item.role !== "system" && (itemText(item)?.trim() ?? "") !== "";
}

/** Joins the session's instructions and the system messages, dropping the oldest messages beyond the limit. */
function instructionsOf(
  items: readonly ConversationItem[],
  { instructions }: SessionSettings,
): string | null {
  const systemTexts: string[] = [];
  let left = MAX_SESSION_INSTRUCTIONS_CHARS - instructions.length;
  for (const item of items.toReversed()) {
    const text = item.type === "message" && item.role === "system" ? (item.text?.trim() ?? "") : "";
    if (text === "") continue;
    if (text.length > left) break;
    systemTexts.push(text);
    left -= text.length;
  }
  const all = [instructions, ...systemTexts.reverse()].filter((each) => each.trim() !== "");
  return all.length === 0 ? null : all.join("\n\n");
}
