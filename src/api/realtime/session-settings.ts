import { spokenSpeed } from "../../contract/audio-speech.ts";
import { ServiceError } from "../../contract/errors.ts";
import { JsonText } from "../../contract/json/read-json.ts";
import { quoted } from "../../contract/quoted.ts";
import {
  type FunctionTool,
  type InputTranscription,
  MAX_TOOLS_CHARS,
  type RealtimeFormat,
  type SessionUpdate,
  type TurnDetection,
} from "../../contract/realtime/session.ts";
import { voiceWord } from "../../contract/voices.ts";
import { languageCodeNamed } from "../../core/languages.ts";
import type { ToolUse } from "../../core/writer.ts";
import { type Cast, checkVoice } from "../../serving/prepare/choose-voice.ts";
import type { EndpointingOptions } from "./endpointing.ts";
import { RealtimeError } from "./realtime-error.ts";

/** What a session's voice may be. */
export interface SessionVoices {
  /** The model's own voices. */
  readonly cast: Cast;
  /** What recordings are called that its key may use, when the session began. Ids of others are taken on trust. */
  readonly own: readonly string[];
}

/** What holds in a session: every field that `session.update` may change, with its value. */
export interface SessionSettings {
  readonly type: "realtime" | "transcription";
  readonly model: string;
  readonly instructions: string;
  readonly modality: "audio" | "text";
  readonly inputFormat: RealtimeFormat;
  readonly transcription: InputTranscription | null;
  readonly turnDetection: TurnDetection | null;
  readonly outputFormat: RealtimeFormat;
  /** As the client calls it. */
  readonly voice: string;
  readonly voices: SessionVoices;
  /** That is spoken at. */
  readonly speed: number;
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolUse["choice"];
  readonly maxOutputTokens: number | "inf";
}

const PCM: RealtimeFormat = { type: "audio/pcm", rate: 24_000 };

/** Of a session that a client says nothing of. */
export function defaultSettings(model: string, voices: SessionVoices): SessionSettings {
  return {
    type: "realtime",
    model,
    voices,
    instructions: "",
    modality: "audio",
    inputFormat: PCM,
    transcription: null,
    turnDetection: { type: "server_vad" },
    outputFormat: PCM,
    voice: "alloy",
    speed: 1,
    tools: [],
    toolChoice: "auto",
    maxOutputTokens: "inf",
  };
}

/**
 * The settings after an update: what it has replaces what was, and turn detection is replaced whole.
 *
 * @param hasSounded whether a reply was heard already: its voice holds then
 * @param of what errors call the object that the fields are of
 * @throws RealtimeError, which names the field, for what cannot be changed.
 */
export function updated(
  settings: SessionSettings,
  update: SessionUpdate,
  hasSounded: boolean,
  of: "session" | "response" = "session",
): SessionSettings {
  const { audio: { input = {}, output = {} } = {} } = update;
  const voice = voiceOf(output.voice, settings.voices);
  if (voice !== undefined && voice !== settings.voice && hasSounded) {
    throw new RealtimeError("the voice cannot be changed once it was heard: begin another session", {
      code: "cannot_update_voice",
      param: "session.audio.output.voice",
    });
  }
  if (update.type !== undefined && update.type !== settings.type) {
    throw new RealtimeError("a session keeps its type: begin another one", {
      code: "invalid_value",
      param: "session.type",
    });
  }
  const kept = <T>(value: T | undefined, former: T): T => (value === undefined ? former : value);
  const choice = update.tool_choice;
  const tools = update.tools === undefined ? settings.tools : toolsOf(update.tools ?? [], of);
  return {
    ...settings,
    instructions: kept(update.instructions, settings.instructions) ?? "",
    modality: modalityOf(update.output_modalities) ?? settings.modality,
    inputFormat: whole(kept(input.format, settings.inputFormat)),
    transcription: kept(transcriptionOf(input.transcription), settings.transcription),
    turnDetection: kept(input.turn_detection, settings.turnDetection),
    outputFormat: whole(kept(output.format, settings.outputFormat)),
    voice: kept(voice, settings.voice),
    speed: output.speed === undefined ? settings.speed : spokenSpeed(output.speed),
    tools,
    toolChoice:
      choice === undefined ? stillThere(settings.toolChoice, tools) : choiceOf(choice ?? "auto", tools, of),
    maxOutputTokens: kept(update.max_output_tokens, settings.maxOutputTokens),
  };
}

function modalityOf(modalities: SessionUpdate["output_modalities"]): "audio" | "text" | undefined {
  if (modalities === undefined) return undefined;
  return modalities.includes("audio") ? "audio" : "text";
}

type Output = NonNullable<NonNullable<SessionUpdate["audio"]>["output"]>;

/** A voice as the client calls it. @throws RealtimeError where there is none of that name */
function voiceOf(given: Output["voice"], { cast, own }: SessionVoices): string | undefined {
  const voice = given === undefined ? undefined : voiceWord(given);
  const param = "session.audio.output.voice";
  try {
    if (voice !== undefined) checkVoice(voice, param, cast, own);
    return voice;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new RealtimeError(error.message, { code: "invalid_value", param });
  }
}

/**
 * With the language's code, where a region or its English name may be given; an empty one is none.
 *
 * @throws RealtimeError where there is no such language
 */
function transcriptionOf(
  given: InputTranscription | null | undefined,
): InputTranscription | null | undefined {
  if (given?.language === undefined) return given;
  const { language, ...rest } = given;
  if (language.trim() === "") return rest;
  const code = languageCodeNamed(language);
  if (code !== null) return { ...rest, language: code };
  throw new RealtimeError(
    `language ${quoted(language)} is unknown: send its ISO 639-1 code, such as "en", or leave it out to have it detected`,
    { code: "invalid_value", param: "session.audio.input.transcription.language" },
  );
}

function toolsOf(given: readonly FunctionTool[], of: string): readonly FunctionTool[] {
  const param = `${of}.tools`;
  // From the thread that reads large events, JSON text comes without its class.
  const tools = given.map(({ parameters, ...tool }) =>
    parameters === undefined ? tool : { ...tool, parameters: new JsonText(parameters.text) },
  );
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) < n);
  if (twice !== undefined)
    throw new RealtimeError(`there are two functions ${twice}: rename one`, { code: "invalid_value", param });
  if (JSON.stringify(tools).length > MAX_TOOLS_CHARS) {
    throw new RealtimeError(
      `the functions have more than ${MAX_TOOLS_CHARS} characters of JSON, which is all there may be: describe them shorter`,
      { code: "invalid_value", param },
    );
  }
  return tools;
}

/** What is to be called, of the functions that there are. */
function choiceOf(
  choice: NonNullable<SessionUpdate["tool_choice"]>,
  tools: readonly FunctionTool[],
  of: string,
): ToolUse["choice"] {
  if (choice === "auto" || choice === "none" || choice === "required") return choice;
  const { name, function: called } = typeof choice === "object" ? choice : {};
  const chosen = tools.find((tool) => tool.name === (name ?? called?.name));
  if (chosen !== undefined) return { name: chosen.name };
  throw new RealtimeError('tool_choice must be "auto", "none", "required", or name one of the functions', {
    code: "invalid_value",
    param: `${of}.tool_choice`,
  });
}

/** The former choice, unless its function is gone. */
function stillThere(choice: ToolUse["choice"], tools: readonly FunctionTool[]): ToolUse["choice"] {
  return typeof choice === "string" || tools.some(({ name }) => name === choice.name) ? choice : "auto";
}

function whole(format: RealtimeFormat): RealtimeFormat {
  return format.type === "audio/pcm" ? PCM : format;
}

/**
 * The session as `session.created` and `session.updated` tell it: whole, and what holds. Of a writer that calls no functions
 * it has none.
 */
export function wireSession(
  settings: SessionSettings,
  id: string,
  callsTools: boolean,
): Record<string, unknown> {
  const { transcription, turnDetection } = settings;
  const input = {
    format: settings.inputFormat,
    ...(transcription === null ? {} : { transcription: wireTranscription(transcription) }),
    ...(turnDetection === null ? { turn_detection: null } : { turn_detection: withDefaults(turnDetection) }),
  };
  const base = {
    id,
    type: settings.type,
    object: `realtime.${settings.type === "realtime" ? "" : "transcription_"}session`,
  };
  if (settings.type === "transcription") return { ...base, audio: { input } };
  return {
    ...base,
    model: settings.model,
    instructions: settings.instructions,
    output_modalities: [settings.modality],
    audio: { input, output: { format: settings.outputFormat, voice: settings.voice, speed: settings.speed } },
    tools: callsTools ? settings.tools : [],
    tool_choice: callsTools ? wireChoice(settings.toolChoice) : "none",
    max_output_tokens: settings.maxOutputTokens,
  };
}

/** Pipecat takes nothing but these three strings. */
function wireChoice(choice: ToolUse["choice"]): "auto" | "none" | "required" {
  return typeof choice === "string" ? choice : "required";
}

/** These three alone: any other member ends Pipecat. */
function wireTranscription({ model, language, prompt }: InputTranscription): InputTranscription {
  return {
    ...(model === undefined ? {} : { model }),
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
  };
}

/** Turn detection with every field that it has. */
export function withDefaults(detection: TurnDetection) {
  const { create_response = true, interrupt_response = true } = detection;
  const answers = { create_response, interrupt_response };
  if (detection.type === "semantic_vad") {
    return { type: detection.type, eagerness: detection.eagerness ?? "auto", ...answers };
  }
  const { threshold = 0.5, prefix_padding_ms = 300, silence_duration_ms = 500, idle_timeout_ms } = detection;
  const idle = idle_timeout_ms === undefined || idle_timeout_ms === null ? {} : { idle_timeout_ms };
  return { type: detection.type, threshold, prefix_padding_ms, silence_duration_ms, ...idle, ...answers };
}

/** Milliseconds before a turn's beginning that belong to it. */
export function prefixMs(detection: TurnDetection | null): number {
  return detection?.type === "server_vad" ? (detection.prefix_padding_ms ?? 300) : 300;
}

const WINDOW_MS = 32;
const MEDIUM = { maxSilenceMs: 4_000, maxSentenceSilenceMs: 1_500, minFinished: 0.5, minReplySilenceMs: 288 };
/** By eagerness: longest silence within a turn, and behind words that end a sentence, and what the judge has to be sure of. */
const EAGERNESS = {
  low: { maxSilenceMs: 8_000, maxSentenceSilenceMs: 3_000, minFinished: 0.7, minReplySilenceMs: 512 },
  medium: MEDIUM,
  auto: MEDIUM,
  high: { maxSilenceMs: 2_000, maxSentenceSilenceMs: 1_000, minFinished: 0.3, minReplySilenceMs: 0 },
} as const;
/** The judge is asked 192 ms into a pause: it errs more when it hears more of it. */
const JUDGE_AFTER_WINDOWS = 6;
/** A short turn ends with 608 ms of silence, whatever it sounds like: a judge errs on "Okay." and "Uh huh." */
const MAX_SHORT_SILENCE_WINDOWS = 19;
/** While a reply is heard, an interruption takes 160 ms of speech; else 96 ms begin a turn. */
const ONSET_WINDOWS = { listening: 3, speaking: 5 } as const;
/** What somebody says is recognised every 1.5 s; every 0.4 s while it has to be known whether it is an interruption. */
const HEAR_EVERY_WINDOWS = { turn: 47, interruption: 12 } as const;

/** Words that an interruption has to have before it counts; 0: it counts as speech. */
export function minInterruptionWords(detection: TurnDetection | null): number {
  return detection?.antiphon_min_interruption_words ?? 0;
}

/** What endpointing depends on beside the settings; false unless given. */
export interface EndpointingMoment {
  /** Whether a reply is heard just now. */
  readonly isSpeaking?: boolean;
  /** Whether speech is no interruption yet, for want of words. */
  readonly isHeld?: boolean;
  /** Whether the words before the pause end a sentence. */
  readonly isSentence?: boolean;
}

export function endpointingOptions(
  detection: TurnDetection,
  { isSpeaking = false, isHeld = false, isSentence = false }: EndpointingMoment = {},
): EndpointingOptions {
  const onsetWindows = isSpeaking ? ONSET_WINDOWS.speaking : ONSET_WINDOWS.listening;
  const hearEveryWindows = isHeld ? HEAR_EVERY_WINDOWS.interruption : HEAR_EVERY_WINDOWS.turn;
  if (detection.type === "server_vad") {
    const { threshold = 0.5, silence_duration_ms: silenceMs = 500 } = detection;
    const maxSilenceWindows = Math.max(1, Math.ceil(silenceMs / WINDOW_MS));
    return {
      threshold,
      onsetWindows,
      maxSilenceWindows,
      maxShortSilenceWindows: maxSilenceWindows,
      judgeAfterWindows: null,
      minFinished: 1,
      hearEveryWindows,
    };
  }
  const { maxSilenceMs, maxSentenceSilenceMs, minFinished } = EAGERNESS[detection.eagerness ?? "auto"];
  return {
    threshold: 0.5,
    onsetWindows,
    maxSilenceWindows: Math.ceil((isSentence ? maxSentenceSilenceMs : maxSilenceMs) / WINDOW_MS),
    maxShortSilenceWindows: MAX_SHORT_SILENCE_WINDOWS,
    hearEveryWindows,
    judgeAfterWindows: JUDGE_AFTER_WINDOWS,
    minFinished,
  };
}

/** A reply is not heard before so much silence after the speech that it answers: people pause as long between sentences. */
export function minReplySilenceMs(detection: TurnDetection | null): number {
  return detection?.type === "semantic_vad" ? EAGERNESS[detection.eagerness ?? "auto"].minReplySilenceMs : 0;
}
