import { setMaxListeners } from "node:events";
import { DialogueRequest } from "../contract/dialogue.ts";
import { quoted, ServiceError } from "../contract/errors.ts";
import { MAX_SPEECH_FRAMES, MAX_TEXT_CHARS } from "../contract/limits.ts";
import { ConverseRequest, TtsRequest } from "../contract/requests.ts";
import {
  parseConverseRequest,
  parseDialogueRequest,
  parseLoudness,
  parseTtsRequest,
} from "../contract/validate.ts";
import { abortable } from "../core/abortable.ts";
import { languageCodeFrom } from "../core/languages.ts";
import { NO_SPAN } from "../core/span.ts";
import { stopWith } from "../core/stop-with.ts";
import type { openSpokenPhonemes } from "../engines/prosody/read-text.ts";
import { embeddedCheckpoint } from "../models/installed-checkpoint.ts";
import { findModel, type PublicModel } from "../models/public-models.ts";
import { serverLexicon } from "../server/voices/lexicon-file.ts";
import { mannerHeader, readManner } from "../serving/prepare/read-manner.ts";
import { spokenWords } from "../serving/prepare/read-markup.ts";
import { resolveDialogue } from "../serving/prepare/resolve-dialogue.ts";
import { isVaried, resolveConverse, resolveTts } from "../serving/prepare/resolve-request.ts";
import { toTranscriptJson } from "../serving/transcribe/transcript-formats.ts";
import { loadSettings } from "../settings/load.ts";
import type { Settings } from "../settings/schema.ts";
import {
  asAntiphonError,
  checkMembers,
  checkNames,
  checkSignal,
  checkText,
  closedError,
  wrong,
} from "./errors.ts";
import { openParts, type Parts } from "./parts.ts";
import { SpeechOf, type SpeechPlan } from "./speech.ts";
import {
  type Antiphon,
  AntiphonError,
  type ConverseOptions,
  type DialogueLine,
  type DialogueOptions,
  type OpenSettings,
  type Recording,
  type SayOptions,
  type Speech,
  type TranscribeOptions,
  type Transcript,
  type Turn,
} from "./types.ts";

/** Throws AntiphonError. */
export async function openHere(given: OpenSettings): Promise<Antiphon> {
  try {
    return new OpenAntiphon(await openParts(loadSettings({ given, env: {} })));
  } catch (error) {
    throw asAntiphonError(error);
  }
}

/** Placeholder for the key of a request: in this process nothing is metered. */
const KEY = "in-process";

class OpenAntiphon implements Antiphon {
  /** `null` once closed, so that a reference to a closed instance does not keep the rest in memory. */
  #parts: Parts | null;
  readonly #closing = new AbortController();
  #reader: ReturnType<typeof openSpokenPhonemes> | null = null;
  #closed: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    // Any number of speeches may add a listener.
    setMaxListeners(0, this.#closing.signal);
  }

  say(text: string, options: SayOptions = {}): Speech {
    return this.#speech(() => {
      checkText(text);
      checkNames(options, SAY_NAMES);
      const { signal, instructions, loudness, ...asked } = options;
      if (instructions !== undefined && typeof instructions !== "string")
        throw wrong("instructions", "they must be a string");
      checkMembers(TtsRequest, asked);
      const manner = readManner(instructions);
      const isLimited = asked.params?.max_new_tokens != null;
      const isLong = text.length > MAX_TEXT_CHARS;
      if (isLong && isLimited)
        throw wrong("params.max_new_tokens", "a text of over 8,000 characters is spoken whole: leave it out");
      const extras = {
        ...(manner === null ? {} : { manner: manner.asked }),
        // Speaks all of a text by default.
        ...(isLimited ? {} : { maxFrames: isLong ? Number.MAX_SAFE_INTEGER : MAX_SPEECH_FRAMES }),
        ...(isLong && { fields: { text: "text", voice: "voice", maxChars: Number.MAX_SAFE_INTEGER } }),
      };
      const request = parseTtsRequest({ ...asked, text: isLong ? "A." : text });
      const prepared = resolveTts({ ...request, text }, this.#resolve, extras);
      const report = manner === null ? "" : mannerHeader(manner, prepared.model.card.takes.manner);
      const unfollowed = report.includes("not followed") ? [`instructions: ${report}`] : [];
      const cautions = [...unfollowed, ...(prepared.cautions ?? [])];
      const levelled = loudness === undefined ? {} : { loudness };
      parseLoudness(levelled);
      // A long text repeats at any temperature, as in `antiphon say`.
      const seed = isLong && isVaried(prepared) ? 0n : prepared.seed;
      return {
        signal: checkSignal(signal),
        prepare: async () => ({ ...prepared, seed, cautions, ...levelled }),
      };
    });
  }

  converse(conversation: readonly Turn[], options: ConverseOptions = {}): Speech {
    return this.#speech((until) => {
      checkNames(options, CONVERSE_NAMES);
      const { signal, ...asked } = options;
      const prepare = async () => {
        const { turnsAsSent } = await import("./recordings.ts");
        try {
          const body = { ...asked, conversation: await turnsAsSent(conversation, until()) };
          checkMembers(ConverseRequest, body);
          return resolveConverse(parseConverseRequest(body), this.#resolve);
        } catch (error) {
          throw asOfTurns(error);
        }
      };
      return { signal: checkSignal(signal), prepare };
    });
  }

  dialogue(script: string | readonly DialogueLine[], options: DialogueOptions = {}): Speech {
    return this.#speech(() => {
      checkNames(options, DIALOGUE_NAMES);
      const { signal, ...asked } = options;
      const words = typeof script === "string" ? { script } : { lines: script };
      // Raw samples may be as long as the dialogue is.
      const body = { ...asked, ...words, response_format: "pcm" };
      checkMembers(DialogueRequest, body);
      const prepare = async () => resolveDialogue(parseDialogueRequest(body), this.#resolve);
      return { signal: checkSignal(signal), prepare };
    });
  }

  async transcribe(recording: Recording, options: TranscribeOptions = {}): Promise<Transcript> {
    const { recogniser } = this.#open();
    checkNames(options, TRANSCRIBE_NAMES);
    const signal = checkSignal(options.signal);
    const language = options.language == null ? null : languageCodeFrom(String(options.language));
    if (options.language != null && language === null)
      throw wrong("language", `${quoted(String(options.language))} is unknown: give its ISO 639-1 code`);
    if (recogniser === null) throw new AntiphonError(NO_RECOGNISER, "settings", "recogniser.kind");
    const stop = stopWith([this.#closing.signal, ...(signal === null ? [] : [signal])]);
    try {
      stop.signal.throwIfAborted();
      const { soundOf } = await import("./recordings.ts");
      const sound = await soundOf(recording, stop.signal);
      const asked = { language, wantsWords: options.words === true, prompt: null, draft: null };
      return toTranscriptJson(await recogniser.recognise(sound, asked, stop.signal), recogniser.name);
    } catch (error) {
      stop.signal.throwIfAborted();
      throw asAntiphonError(error);
    } finally {
      stop.end();
    }
  }

  async phonemes(text: string): Promise<string[]> {
    const { settings } = this.#open();
    checkText(text);
    const words = phonemesOf(text);
    this.#reader ??= openReader(settings);
    const reading = this.#reader;
    try {
      return await abortable(
        reading.then((reader) => reader.phonemes(words)),
        this.#closing.signal,
      );
    } catch (error) {
      // The next call tries again.
      reading.catch(() => {
        if (this.#reader === reading) this.#reader = null;
      });
      throw asAntiphonError(error);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { service, catalogue, writer, recogniser } = this.#open();
    this.#closing.abort(closedError());
    await service.drain(0);
    const reader = await this.#reader?.catch(() => null);
    await Promise.all([reader?.close(), catalogue.close(), writer?.close(), recogniser?.close()]);
    this.#parts = null;
    this.#reader = null;
  }

  readonly #resolve = (id: string | null): PublicModel | undefined => findModel(this.#open().models, id);

  #speech(plan: (until: () => AbortSignal) => SpeechPlan): Speech {
    return new SpeechOf({
      plan,
      speak: (prepared, signal) =>
        this.#open().service.speak(prepared, {
          ...{ keyId: KEY, signal, span: NO_SPAN },
          encoding: "pcm",
          isStreamed: true,
          isPlayed: false,
        }),
      closing: this.#closing.signal,
    });
  }

  /** Throws AntiphonError once closed. */
  #open(): Parts {
    if (this.#parts === null || this.#closing.signal.aborted) throw closedError();
    return this.#parts;
  }
}

/** Returns the words of a text without marks. */
function phonemesOf(text: string): string {
  try {
    return spokenWords(text, "text");
  } catch (error) {
    throw asAntiphonError(error);
  }
}

async function openReader(settings: Settings): ReturnType<typeof openSpokenPhonemes> {
  const { openSpokenPhonemes } = await import("../engines/prosody/read-text.ts");
  return await openSpokenPhonemes(embeddedCheckpoint.dir, { words: await serverLexicon(settings) });
}

/** Renames the audio field in an error about turns. */
function asOfTurns(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const named = (words: string): string => words.replace(/(?<=^conversation\[\d+\]\.)audio_wav_b64/, "audio");
  return new ServiceError(error.status, named(error.message).replace(" or audio_wav_b64", " or audio"), {
    param: error.param === null ? null : named(error.param),
    cause: error.cause,
  });
}

const NO_RECOGNISER =
  "The setting recogniser.kind is none, so nothing can be transcribed: set it to embedded or endpoint.";

const SAY_NAMES = [...optionNames(TtsRequest, "text"), "instructions", "loudness"];
const CONVERSE_NAMES = optionNames(ConverseRequest, "conversation");
const DIALOGUE_NAMES = optionNames(DialogueRequest, "script", "lines", "response_format", "stream_format");
const TRANSCRIBE_NAMES = ["language", "words", "signal"];

function optionNames({ properties }: { readonly properties: object }, ...others: string[]): string[] {
  return [...Object.keys(properties), "signal"].filter((name) => !others.includes(name));
}
