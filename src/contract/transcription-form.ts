import { languageCode, languageCodeFrom } from "../core/languages.ts";
import type { TranscriptionTask } from "../core/recogniser.ts";
import {
  GRANULARITIES,
  type Granularity,
  isRecogniserNamed,
  MAX_PROMPT_CHARS,
  MAX_VALUES,
  TRANSCRIPT_FORMATS,
  type TranscriptFormat,
} from "./audio-transcriptions.ts";
import { fieldError, quoted, ServiceError } from "./errors.ts";
import { countChars } from "./limits.ts";

export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** How to transcribe a recording and format the transcript. */
export interface TranscriptionOptions {
  readonly task: TranscriptionTask;
  /** ISO 639-1; `null`: detected. */
  readonly language: string | null;
  /** Never blank; `null` if there is none. */
  readonly prompt: string | null;
  readonly format: TranscriptFormat;
  readonly granularities: ReadonlySet<Granularity>;
  readonly isStreamed: boolean;
}

interface Form {
  /** Names without the brackets of a list. The last ones have no effect here. */
  readonly fields: readonly string[];
  /** Unsupported fields of OpenAI's API: refused by name, since their result would be misread. */
  readonly notHere: ReadonlyMap<string, string>;
}

const NOT_TOLD_APART = "speakers are not distinguished";

const FORMS: Readonly<Record<TranscriptionTask, Form>> = {
  transcribe: {
    fields: [
      "file",
      "model",
      "language",
      "languages",
      "prompt",
      "keywords",
      "response_format",
      "timestamp_granularities",
      "temperature",
      "stream",
      "chunking_strategy",
    ],
    notHere: new Map([
      ["include", "token probabilities are not reported: ask for verbose_json, which has avg_logprob"],
      ["known_speaker_names", NOT_TOLD_APART],
      ["known_speaker_references", NOT_TOLD_APART],
    ]),
  },
  translate: {
    // OpenAI's API has no `language` here, but clients send it.
    fields: ["file", "model", "prompt", "response_format", "temperature", "language"],
    notHere: new Map([
      [
        "timestamp_granularities",
        "a translation's words are said at no time: leave it out, verbose_json has the times of segments",
      ],
      ["stream", "a translation comes in one piece: leave it out"],
    ]),
  },
};
const LISTS: ReadonlyMap<string, number> = new Map(Object.entries(MAX_VALUES));

/**
 * Reads the text fields of a transcription or translation. Throws a 422 {@link ServiceError} for what does not match
 * the schema and a 400 for invalid values; either names the field and what to do.
 *
 * @param recogniserName another name that `model` may have; `null` without a recogniser
 */
export function readTranscriptionForm(
  task: TranscriptionTask,
  fields: readonly FormField[],
  recogniserName: string | null,
): TranscriptionOptions {
  const values = grouped(fields, FORMS[task]);
  const one = (name: string): string | undefined => values.get(name)?.[0];
  const model = one("model") ?? "";
  checkTemperature(one("temperature"));
  const isStreamed = readBoolean("stream", one("stream"));
  const granularities = readGranularities(values.get("timestamp_granularities") ?? []);
  const prompt = readPrompt(one("prompt") ?? "", values.get("keywords") ?? []);
  if (model !== "" && !isRecogniserNamed(model, recogniserName)) {
    const own = recogniserName === null ? "" : ` or ${quoted(recogniserName)}`;
    throw fieldError("model", `${quoted(model)} is unknown: send "whisper-1"${own}, or leave it out`);
  }
  const format = readFormat(one("response_format"));
  // Some clients request segments, the default, in any format.
  if (granularities.has("word") && format !== "verbose_json")
    throw fieldError("timestamp_granularities", 'needs response_format "verbose_json": send both');
  if (isStreamed && format !== "json" && format !== "text")
    throw fieldError("stream", `gives text alone: leave it out for response_format ${quoted(format)}`);
  return {
    task,
    language:
      task === "translate"
        ? hintedLanguage(one("language") ?? "")
        : readLanguages(one("language"), values.get("languages") ?? []),
    prompt,
    format,
    granularities,
    isStreamed,
  };
}

/** Groups the values of each field by its name without brackets. */
function grouped(fields: readonly FormField[], form: Form): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { name: written, value } of fields) {
    const name = written.replace(/\[\d*\]$/, "");
    const missing = form.notHere.get(name);
    if (missing !== undefined) throw fieldError(name, `is not taken here, ${missing}`);
    if (!form.fields.includes(name) || (name !== written && !LISTS.has(name))) {
      throw new ServiceError(
        422,
        `${quoted(written)} is not a field of this form: leave it out; there are ${form.fields.join(", ")}`,
      );
    }
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else if (LISTS.has(name)) before.push(value);
    else throw fieldError(name, "is there more than once: send it once", 422);
  }
  for (const [name, max] of LISTS) {
    const count = values.get(name)?.length ?? 0;
    if (count > max) throw fieldError(name, `is there ${count} times: send it ${max} times at most`, 422);
  }
  return values;
}

function checkTemperature(value: string | undefined): void {
  if (value === undefined) return;
  if (!/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(value))
    throw fieldError("temperature", "must be a number", 422);
  const temperature = Number(value);
  if (temperature < 0) throw fieldError("temperature", "must be at least 0", 422);
  if (temperature > 1) throw fieldError("temperature", "must be at most 1", 422);
}

function readBoolean(name: string, value: string | undefined): boolean {
  const lower = (value ?? "false").trim().toLowerCase();
  if (lower === "true" || lower === "1") return true;
  if (lower === "false" || lower === "0" || lower === "") return false;
  throw fieldError(name, "must be true or false", 422);
}

function readGranularities(values: readonly string[]): ReadonlySet<Granularity> {
  const wrong = values.find((value) => !(GRANULARITIES as readonly string[]).includes(value));
  if (wrong !== undefined)
    throw fieldError("timestamp_granularities[]", `must be one of ${GRANULARITIES.join(", ")}`, 422);
  return new Set(values.length === 0 ? ["segment"] : (values as Granularity[]));
}

function readFormat(value = "json"): TranscriptFormat {
  const format = TRANSCRIPT_FORMATS.find((each) => each === value);
  if (format !== undefined) return format;
  const known = TRANSCRIPT_FORMATS.map((each) => `"${each}"`).join(", ");
  throw fieldError("response_format", `${quoted(value)} is not made here: ask for one of ${known}`);
}

/** Joins prompt and keywords; these come last, because the end of a prompt counts most. */
function readPrompt(prompt: string, keywords: readonly string[]): string | null {
  const isSaid = (part: string) => part.trim() !== "";
  const whole = [prompt, keywords.filter(isSaid).join(", ")].filter(isSaid).join("\n");
  if (countChars(whole) > MAX_PROMPT_CHARS) {
    const field = keywords.length === 0 ? "prompt" : "prompt and keywords";
    throw fieldError(field, `must have at most ${MAX_PROMPT_CHARS} characters`, 422);
  }
  return whole === "" ? null : whole;
}

function readLanguages(one: string | undefined, several: readonly string[]): string | null {
  if (several.length === 0) return readLanguage("language", one ?? "");
  if (one !== undefined) throw fieldError("languages", "cannot be combined with language: send one of them");
  const codes = new Set(several.map((value) => readLanguage("languages", value)));
  const [only = null] = codes;
  return codes.size === 1 ? only : null;
}

function readLanguage(field: string, value: string): string | null {
  if (value.trim() === "") return null;
  const code = languageCode(value);
  if (code !== null) return code;
  throw fieldError(
    field,
    `${quoted(value)} is unknown: send its ISO 639-1 code, such as "en", or leave it out to have it detected`,
  );
}

/**
 * Reads the language of a translation as a hint: a name or a code, perhaps with a region; unknown ones are ignored.
 * English is ignored, too: many clients send it as the target, and of other speech recognised as English half may be
 * missing.
 */
function hintedLanguage(value: string): string | null {
  const code = languageCodeFrom(value);
  return code === "en" ? null : code;
}
