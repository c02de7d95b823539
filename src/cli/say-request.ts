import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { quoted, ServiceError } from "../contract/errors.ts";
import { MAX_SPEECH_FRAMES } from "../contract/limits.ts";
import type { InputType } from "../contract/requests.ts";
import type { ChosenVoice, RequestedManner } from "../core/script.ts";
import type { SpeechModel } from "../core/speech-model.ts";
import type { PublicModel } from "../models/public-models.ts";
import { UsageError } from "../server/errors.ts";
import type { CustomVoiceRef } from "../serving/prepare/choose-voice.ts";
import type { ResolvedRequest } from "../serving/prepare/resolve-request.ts";
import type { DialogueScript } from "../serving/reply/speak-dialogue.ts";
import type { findRequestVoices } from "../serving/voices/custom-voices.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, printLine } from "./terminal/command-io.ts";

/** Flags of `antiphon say`. */
export interface SayFlags {
  readonly output?: string;
  readonly speaker?: string;
  readonly voice?: string;
  readonly language?: string;
  readonly model?: string;
  readonly params?: string;
  readonly instructions?: string;
  readonly voiceLike?: string;
  readonly captions?: string;
  readonly words?: boolean;
  readonly file?: string;
  readonly chapters?: string;
  readonly title?: string;
  readonly author?: string;
  readonly ssml?: boolean;
  readonly dialogue?: boolean;
  /** LUFS. */
  readonly loudness?: number;
}

/** Prepares requests from texts and flags as a server would. Wrong flags throw a `UsageError`. */
export class SayRequests {
  readonly #given: Given;
  #model: PublicModel | null = null;
  #language: string | null = null;
  readonly #own = new Map<string, Promise<ChosenVoice>>();
  readonly #reported = new Set<string>();

  private constructor(given: Given) {
    this.#given = given;
  }

  static async open(flags: SayFlags, settings: Settings, io: CommandIo): Promise<SayRequests> {
    const { voice, voiceLike, instructions } = flags;
    if (voice !== undefined && voiceLike !== undefined)
      throw new UsageError("Only one of --voice and --voice-like can be given: leave the other out.");
    const params = parsedParams(flags);
    const models = await modelsFor(flags, settings);
    const recording = voiceLike === undefined ? null : await readRecording(voiceLike);
    const { mannerHeader, readManner } = await import("../serving/prepare/read-manner.ts");
    const manner = readManner(instructions);
    const given = { flags, params, models, recording, manner: manner?.asked, settings, io };
    const requests = new SayRequests(given);
    // A dummy text: this checks the other flags and resolves the model.
    const { model, otherLanguage } = await requests.prepare("A.", "text", null);
    requests.#language = otherLanguage ?? null;
    const report = manner === null ? "" : mannerHeader(manner, model.card.takes.manner);
    if (report.includes("not followed")) printLine(io.stderr, `Said as: ${report}.`);
    await reportUnreadParams(params, io);
    return requests;
  }

  get model(): PublicModel {
    return this.#model!;
  }

  /** Whether the flags limit the length. */
  get isLimited(): boolean {
    return this.#given.params?.max_new_tokens != null;
  }

  /** Returns what the sound depends on besides the text, by names that users know. */
  async dependsOn(): Promise<Readonly<Record<string, string>>> {
    const { serverLexicon } = await import("../server/voices/lexicon-file.ts");
    const words = await serverLexicon(this.#given.settings);
    const { speaker = "", voice = "", language = "", instructions = "", loudness } = this.#given.flags;
    const recording = this.#given.recording;
    return {
      "--model": this.model.card.id,
      "--speaker": speaker,
      "--voice": voice,
      ...(language === "" ? {} : { "--language": language }),
      "--voice-like": recording === null ? "" : hashOf(recording),
      "the setting lexicon": words.length === 0 ? "" : hashOf(JSON.stringify(words)),
      "--instructions": instructions,
      ...(loudness === undefined ? {} : { "--loudness": `${loudness}` }),
      "--params": JSON.stringify(sorted(this.#given.params ?? {})),
    };
  }

  /** Prepares a text to be spoken. Reports each instruction that cannot be followed, once. */
  async prepare(text: string, inputType?: InputType, recording = this.#given.recording) {
    const { parseConverseRequest, parseLoudness, parseTtsRequest } = await import("../contract/validate.ts");
    const { resolveConverse, resolveTts } = await import("../serving/prepare/resolve-request.ts");
    const { findModel } = await import("../models/public-models.ts");
    const { models, params, flags } = this.#given;
    const { speaker, model, language, dialogue, loudness } = flags;
    const how = { model, language, params, input_type: inputType };
    const resolve = (id: string | null) => findModel(models, id);
    try {
      if (loudness !== undefined) parseLoudness({ loudness });
      // In a dialogue, --voice is for the speakers of the script.
      const voice = dialogue === true ? undefined : flags.voice;
      const alone = resolveTts(parseTtsRequest({ text, speaker, voice, ...how }), resolve);
      if (recording === null) return await this.#complete(alone);
      const conversation = [
        { speaker, audio_wav_b64: recording.toString("base64") },
        { speaker, text },
      ];
      return await this.#complete(resolveConverse(parseConverseRequest({ conversation, ...how }), resolve));
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Prepares a script of several people. Reports each speaker's voice. */
  async prepareDialogue(script: string): Promise<DialogueScript> {
    const { parseDialogueRequest } = await import("../contract/validate.ts");
    const { resolveDialogue } = await import("../serving/prepare/resolve-dialogue.ts");
    const { findModel } = await import("../models/public-models.ts");
    const { flags, params, models, io } = this.#given;
    const { voice, speaker, voiceLike, model, language } = flags;
    if (speaker !== undefined || voiceLike !== undefined)
      throw new UsageError("A dialogue has a voice for each speaker: write --voice Anna=maya,Ben=theo.");
    const asked = { script, voices: parsedCast(voice), params, model, language };
    try {
      const prepared = resolveDialogue(parseDialogueRequest(asked), (id) => findModel(models, id));
      const completed = await this.#complete(prepared);
      const cast = completed.dialogue.speakers.map(({ name, voice }) => `${name}: ${voice}`);
      printLine(io.stderr, `Voices: ${cast.join(", ")}.`);
      return completed;
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /**
   * Reads the markup of a text of any length that is spoken in parts later.
   *
   * @param field name in messages
   * @returns how many characters of it are spoken
   * @throws UsageError for invalid markup and unknown voices
   */
  async check(text: string, inputType: InputType, field = "text"): Promise<number> {
    const { readMarkup } = await import("../serving/prepare/read-markup.ts");
    try {
      const { voices, cautions, chars } = readMarkup(text, field, this.model.card, inputType, [], {
        language: this.#language,
      });
      this.#report(cautions);
      await this.#findVoices({ textVoices: voices, model: this.model });
      return chars;
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Opens the voice: in a thread here, or remote. */
  async openVoice(): Promise<SpeechModel> {
    const { checkpoint } = this.model;
    const { remoteCheckpoints } = await import("../server/voices/remote-checkpoints.ts");
    const remote = remoteCheckpoints(this.#given.settings, { env: this.#given.io.env }).find(
      ({ name }) => name === checkpoint,
    );
    if (remote !== undefined) return await remote.load();
    const { codecLmCheckpoints } = await import("../server/voices/codec-lm-checkpoints.ts");
    const [local] = await codecLmCheckpoints(this.#given.settings, { only: checkpoint });
    if (local !== undefined) return await local.load();
    const { serverLexicon } = await import("../server/voices/lexicon-file.ts");
    const words = await serverLexicon(this.#given.settings);
    const { KOKORO_CHECKPOINT } = await import("../models/kokoro-voices.ts");
    if (checkpoint === KOKORO_CHECKPOINT) {
      const { kokoroCheckpoint } = await import("../server/voices/kokoro-checkpoint.ts");
      const kokoro = await kokoroCheckpoint(this.#given.settings, { words, threads: 1 });
      if (kokoro !== null) return await kokoro.load();
    }
    const { openEmbeddedVoice } = await import("../server/voices/embedded-voice.ts");
    return await openEmbeddedVoice({ threads: 1, precision: this.#given.settings.voicePrecision, words });
  }

  async #complete<R extends ResolvedRequest>(prepared: R): Promise<R> {
    const { manner } = this.#given;
    this.#model = prepared.model;
    this.#report(prepared.cautions);
    return {
      ...prepared,
      ...(manner && { manner }),
      // The whole text is spoken, unless --params sets a limit.
      ...(this.isLimited ? {} : { delivery: { ...prepared.delivery, maxFrames: MAX_SPEECH_FRAMES } }),
      ...(await this.#findVoices(prepared)),
    };
  }

  async #findVoices(request: Parameters<typeof findRequestVoices>[0]): ReturnType<typeof findRequestVoices> {
    const { findRequestVoices } = await import("../serving/voices/custom-voices.ts");
    const stored = { find: (asked: CustomVoiceRef) => this.#storedVoice(asked), check: async () => {} };
    return await findRequestVoices(request, stored, "", new AbortController().signal);
  }

  /** Returns the error for the user, if it is about the request. */
  #refusal(error: unknown): unknown {
    if (!(error instanceof ServiceError)) return error;
    const { voiceLike } = this.#given.flags;
    const named = () => `${voiceLike} (--voice-like)`;
    const reason = error.message.replace("conversation[0].audio_wav_b64", named);
    return new UsageError(`This cannot be said: ${reason}.`);
  }

  #storedVoice(asked: CustomVoiceRef): Promise<ChosenVoice> {
    let voice = this.#own.get(asked.name);
    if (voice === undefined) {
      voice = import("./stored-voice.ts").then(({ storedVoice }) =>
        storedVoice(asked, this.model, this.#given.models, this.#given.settings, this.#given.io),
      );
      this.#own.set(asked.name, voice);
    }
    return voice;
  }

  #report(cautions: readonly string[] = []): void {
    const { stderr } = this.#given.io;
    for (const caution of cautions) {
      if (this.#reported.has(caution)) continue;
      this.#reported.add(caution);
      // Erases a line of progress.
      stderr.raw?.write("\r\u001b[K");
      printLine(stderr, `Not followed: ${caution}.`);
    }
  }
}

interface Given {
  readonly flags: SayFlags;
  readonly params: Readonly<Record<string, unknown>> | undefined;
  readonly models: readonly PublicModel[];
  readonly recording: Buffer | null;
  readonly manner: RequestedManner | undefined;
  readonly settings: Settings;
  readonly io: CommandIo;
}

/** Returns the available models. Custom voices and those of local checkpoints are read only if a voice, language or model is named. */
async function modelsFor(
  { voice, language, model }: SayFlags,
  settings: Settings,
): Promise<readonly PublicModel[]> {
  if ([voice, language, model].some((flag) => flag !== undefined))
    return (await import("./stored-voice.ts")).localPublicModels(settings);
  const { modelsFromSettings } = await import("../models/models-from-settings.ts");
  const { withVoiceManners } = await import("../server/voices/server-voices.ts");
  return withVoiceManners(modelsFromSettings(settings), settings);
}

/** Reads the file of `--voice-like` as a WAV; of one over the cap, just enough to exceed it. */
async function readRecording(file: string): Promise<Buffer> {
  const { MAX_TURN_AUDIO_BYTES } = await import("../contract/limits.ts");
  const bytes = await buffer(createReadStream(file, { end: MAX_TURN_AUDIO_BYTES })).catch(
    (error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `The file ${file} cannot be read (${error.code}): name a recording with --voice-like.`,
      );
    },
  );
  if (bytes.subarray(0, 4).toString("latin1") === "RIFF" || bytes.length > MAX_TURN_AUDIO_BYTES) return bytes;
  const { asWav } = await import("../server/voices/read-recording.ts");
  // Bytes of an unknown format are refused later, like a turn's audio.
  return (await asWav(bytes)) ?? bytes;
}

/** Parses the voices of a dialogue: `Anna=maya,Ben=theo`. */
function parsedCast(voices = ""): Readonly<Record<string, string>> {
  const pairs = voices.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new UsageError(`--voice ${quoted(pair)} names no speaker: write Anna=maya,Ben=theo.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

function parsedParams({ params: json }: SayFlags): Readonly<Record<string, unknown>> | undefined {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError(`--params is not JSON: write it like '{"temperature": 0}'.`);
  }
}

/** Reports parameters that nothing reads. */
async function reportUnreadParams(params: unknown, { stderr }: CommandIo): Promise<void> {
  if (params === undefined) return;
  const { TtsRequest } = await import("../contract/requests.ts");
  const { IgnoredFields } = await import("../contract/json/read-json.ts");
  const unread = new IgnoredFields();
  unread.addUnknown(TtsRequest, { params });
  const ignored = unread.headerValue();
  if (ignored !== null) printLine(stderr, `Ignored: ${ignored}.`);
}

function hashOf(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Sorts the members of objects, for a stable hash. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
