import { clampSpeed } from "../../contract/audio-speech.ts";
import { quoted, ServiceError } from "../../contract/errors.ts";
import { JsonText } from "../../contract/json/read-json.ts";
import {
  type FunctionTool,
  type InputTranscription,
  MAX_TOOLS_CHARS,
  type RealtimeFormat,
  type SessionUpdate,
  type TurnDetection,
} from "../../contract/realtime/session.ts";
import { voiceName } from "../../contract/voices.ts";
import { languageCodeFrom } from "../../core/languages.ts";
import type { ToolUse } from "../../core/writer.ts";
import { chooseLanguage } from "../../serving/prepare/choose-language.ts";
import { checkVoice, type ModelVoices } from "../../serving/prepare/choose-voice.ts";
import { RealtimeError } from "./realtime-error.ts";

export interface SessionVoices {
  readonly cast: ModelVoices;
  /** Names of the key's recorded voices when the session began. Ids are accepted unchecked. */
  readonly own: readonly string[];
}

export interface SessionSettings {
  readonly type: "realtime" | "transcription";
  readonly model: string;
  readonly instructions: string;
  readonly modality: "audio" | "text";
  readonly inputFormat: RealtimeFormat;
  readonly transcription: InputTranscription | null;
  readonly turnDetection: TurnDetection | null;
  readonly outputFormat: RealtimeFormat;
  readonly voice: string;
  /** Language of the speaker labels and of OpenAI's names; `null`: what they usually speak. */
  readonly language: string | null;
  readonly voices: SessionVoices;
  readonly speed: number;
  readonly tools: readonly FunctionTool[];
  readonly toolChoice: ToolUse["choice"];
  readonly maxOutputTokens: number | "inf";
}

const PCM: RealtimeFormat = { type: "audio/pcm", rate: 24_000 };

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
    language: null,
    speed: 1,
    tools: [],
    toolChoice: "auto",
    maxOutputTokens: "inf",
  };
}

/**
 * Returns the settings after an update. Turn detection is replaced as a whole.
 *
 * @param hasSentAudio whether audio was sent, after which the voice cannot change
 * @param of prefix of field names in errors
 * @throws RealtimeError that names the field
 */
export function updateSettings(
  settings: SessionSettings,
  update: SessionUpdate,
  hasSentAudio: boolean,
  of: "session" | "response" = "session",
): SessionSettings {
  const { audio: { input = {}, output = {} } = {} } = update;
  const { voice, language } = voiceOf(output, settings);
  for (const name of ["voice", "language"] as const) {
    if (!hasSentAudio || { voice, language }[name] === settings[name]) continue;
    throw new RealtimeError(`the ${name} cannot change after audio was sent: start another session`, {
      code: "cannot_update_voice",
      param: `session.audio.output.${name}`,
    });
  }
  if (update.type !== undefined && update.type !== settings.type) {
    throw new RealtimeError("the session type cannot change: start another session", {
      code: "invalid_value",
      param: "session.type",
    });
  }
  const orCurrent = <T>(value: T | undefined, former: T): T => (value === undefined ? former : value);
  const choice = update.tool_choice;
  const tools = update.tools === undefined ? settings.tools : toolsOf(update.tools ?? [], of);
  return {
    ...settings,
    instructions: orCurrent(update.instructions, settings.instructions) ?? "",
    modality: modalityOf(update.output_modalities) ?? settings.modality,
    inputFormat: withRate(orCurrent(input.format, settings.inputFormat)),
    transcription: orCurrent(transcriptionOf(input.transcription), settings.transcription),
    turnDetection: orCurrent(input.turn_detection, settings.turnDetection),
    outputFormat: withRate(orCurrent(output.format, settings.outputFormat)),
    voice,
    language,
    speed: output.speed === undefined ? settings.speed : clampSpeed(output.speed),
    tools,
    toolChoice:
      choice === undefined ? keptChoice(settings.toolChoice, tools) : choiceOf(choice ?? "auto", tools, of),
    maxOutputTokens: orCurrent(update.max_output_tokens, settings.maxOutputTokens),
  };
}

function modalityOf(modalities: SessionUpdate["output_modalities"]): "audio" | "text" | undefined {
  if (modalities === undefined) return undefined;
  return modalities.includes("audio") ? "audio" : "text";
}

type Output = NonNullable<NonNullable<SessionUpdate["audio"]>["output"]>;

/** Returns voice and language after an update. Checks what it changes. */
function voiceOf(given: Output, settings: SessionSettings): Pick<SessionSettings, "voice" | "language"> {
  const voice = given.voice === undefined ? settings.voice : voiceName(given.voice);
  const language = given.language === undefined ? settings.language : given.language;
  const param = `session.audio.output.${given.voice === undefined ? "language" : "voice"}`;
  try {
    if (given.voice === undefined && given.language === undefined) return { voice, language };
    const { card } = chooseLanguage(language, settings.voices.cast, "session.audio.output.language");
    checkVoice(voice, "session.audio.output.voice", card, settings.voices.own);
    return { voice, language };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new RealtimeError(error.message, { code: "invalid_value", param });
  }
}

/**
 * Resolves the language (a code, a locale or an English name) to its code; an empty one is omitted.
 *
 * @throws RealtimeError for an unknown language
 */
function transcriptionOf(
  given: InputTranscription | null | undefined,
): InputTranscription | null | undefined {
  if (given?.language === undefined) return given;
  const { language, ...rest } = given;
  if (language.trim() === "") return rest;
  const code = languageCodeFrom(language);
  if (code !== null) return { ...rest, language: code };
  throw new RealtimeError(
    `language ${quoted(language)} is unknown: send its ISO 639-1 code, such as "en", or leave it out to have it detected`,
    { code: "invalid_value", param: "session.audio.input.transcription.language" },
  );
}

function toolsOf(given: readonly FunctionTool[], of: string): readonly FunctionTool[] {
  const param = `${of}.tools`;
  // JSON text loses its class when the parser thread returns it.
  const tools = given.map(({ parameters, ...tool }) =>
    parameters === undefined ? tool : { ...tool, parameters: new JsonText(parameters.text) },
  );
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) < n);
  if (twice !== undefined)
    throw new RealtimeError(`there are two functions ${twice}: rename one`, { code: "invalid_value", param });
  if (JSON.stringify(tools).length > MAX_TOOLS_CHARS) {
    throw new RealtimeError(
      `the functions have more than ${MAX_TOOLS_CHARS} characters of JSON: shorten their descriptions`,
      { code: "invalid_value", param },
    );
  }
  return tools;
}

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

function keptChoice(choice: ToolUse["choice"], tools: readonly FunctionTool[]): ToolUse["choice"] {
  return typeof choice === "string" || tools.some(({ name }) => name === choice.name) ? choice : "auto";
}

function withRate(format: RealtimeFormat): RealtimeFormat {
  return format.type === "audio/pcm" ? PCM : format;
}

/** Returns the session for `session.created` and `session.updated`; without tools if the writer calls none. */
export function sessionPayload(
  settings: SessionSettings,
  id: string,
  callsTools: boolean,
): Record<string, unknown> {
  const { transcription, turnDetection } = settings;
  const input = {
    format: settings.inputFormat,
    ...(transcription === null ? {} : { transcription: transcriptionPayload(transcription) }),
    turn_detection: turnDetection === null ? null : turnDetectionPayload(turnDetection),
  };
  const base = {
    id,
    type: settings.type,
    object: `realtime.${settings.type === "realtime" ? "" : "transcription_"}session`,
  };
  if (settings.type === "transcription") return { ...base, audio: { input } };
  const { outputFormat: format, voice, speed, language, toolChoice } = settings;
  // Pipecat accepts only strings.
  const choice = typeof toolChoice === "string" ? toolChoice : "required";
  return {
    ...base,
    model: settings.model,
    instructions: settings.instructions,
    output_modalities: [settings.modality],
    audio: { input, output: { format, voice, speed, ...(language === null ? {} : { language }) } },
    tools: callsTools ? settings.tools : [],
    tool_choice: callsTools ? choice : "none",
    max_output_tokens: settings.maxOutputTokens,
  };
}

/** Pipecat closes the session on any other field. */
function transcriptionPayload({ model, language, prompt }: InputTranscription): InputTranscription {
  return {
    ...(model === undefined ? {} : { model }),
    ...(language === undefined ? {} : { language }),
    ...(prompt === undefined ? {} : { prompt }),
  };
}

/** Returns the turn detection with its defaults filled in. */
export function turnDetectionPayload(detection: TurnDetection) {
  const { create_response = true, interrupt_response = true } = detection;
  const answers = { create_response, interrupt_response };
  if (detection.type === "semantic_vad") {
    return { type: detection.type, eagerness: detection.eagerness ?? "auto", ...answers };
  }
  const { threshold = 0.5, prefix_padding_ms = 300, silence_duration_ms = 500, idle_timeout_ms } = detection;
  const idle = idle_timeout_ms === undefined || idle_timeout_ms === null ? {} : { idle_timeout_ms };
  return { type: detection.type, threshold, prefix_padding_ms, silence_duration_ms, ...idle, ...answers };
}
