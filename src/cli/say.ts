import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import type { SegmentedKind } from "../audio/encode/segmented-file.ts";
import type { PublicModel } from "../catalogue/public-models.ts";
import { ServiceError } from "../contract/errors.ts";
import { countChars, MAX_SPEECH_FRAMES, MAX_TEXT_CHARS } from "../contract/limits.ts";
import type { SpokenWord } from "../contract/spoken.ts";
import { ConversationError, NothingToSpeakError, type SpeechModel } from "../model/speech-model.ts";
import { UsageError } from "../server/usage-error.ts";
import type { Prepared } from "../serving/prepare.ts";
import type { Settings } from "../settings/schema.ts";
import type { CommandIo } from "../terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "../terminal/global-options.ts";
import { onStopSignal } from "../terminal/stop-signal.ts";
import type { Passage } from "../text/passages.ts";
import type { CaptionForm } from "./book/caption-file.ts";
import { type LongText, openText, wholeText } from "./book/long-text.ts";

interface SayFlags {
  readonly output?: string;
  readonly speaker?: string;
  readonly voice?: string;
  readonly model?: string;
  readonly params?: string;
  readonly instructions?: string;
  readonly voiceLike?: string;
  readonly captions?: string;
  readonly words?: boolean;
  readonly file?: string;
  readonly chapters?: string;
  readonly ssml?: boolean;
}

/** `antiphon say TEXT|-`: speaks without a server. */
export function registerSay(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("say"))
    .description("speak a text of any length without a server")
    .argument("[text]", "the text, or - for standard input")
    .option("-f, --file <file>", "file with the text; one that ends in .md is read as Markdown")
    .option(
      "-o, --output <file>",
      "file to write: .wav, .mp3, .opus, .ogg or .flac (default: play it on a terminal, else write a WAV to standard output)",
    )
    .option("--speaker <label>", "who speaks, 0 or 1 (default: 0)")
    .option(
      "--voice <name>",
      "whose voice, as `antiphon voices list` prints it, or, where the model mixes, nova(2)+onyx(1)",
    )
    .option("--model <id>", "public model, as `antiphon models list` prints it (default: the default model)")
    .option("--instructions <text>", "how to say it, as in: cheerful, a little slower")
    .option("--ssml", "the text is SSML (default: only if it begins with <speak>)")
    .option(
      "--voice-like <file>",
      "recording of a voice to come near to: WAV, MP3, FLAC, or Opus in Ogg or WebM",
    )
    .option("--captions <file>", "captions to write as well: WebVTT (.vtt) or SubRip (.srt)")
    .option("--words", "put the time of each word into the captions (WebVTT only)")
    .option(
      "--chapters <how>",
      "of a long text with headings: marks in an MP3 or Opus file, or files, one for each chapter (default: marks)",
    )
    .option("--params <json>", "generation parameters, as POST /v1/tts takes them in params")
    .action(async (argument: string | undefined, flags: SayFlags, command: Command) => {
      const form = captionForm(flags);
      const encoding = encodingOf(flags.output);
      const inFiles = isInFiles(flags);
      const settings = await settingsOf(command, io);
      if (flags.output === undefined) tellOfReader(io);
      const given = await openText(
        argument,
        flags.file,
        io.stdin as AsyncIterable<Uint8Array>,
        MAX_TEXT_CHARS,
      );
      const { whole } = given;
      if (whole === null || given.writing === "markdown" || inFiles) {
        await speakLong(given, { encoding, form, inFiles }, flags, settings, io);
        return;
      }
      const { file, spoken } = await speak(whole, encoding, flags, settings, io);
      if (flags.captions !== undefined && form !== null)
        await write(flags.captions, await captions(spoken, form), "--captions");
      if (flags.output !== undefined) await write(flags.output, file, "-o");
      else if (io.stdout.isTTY) await (await import("../terminal/play.ts")).play(file);
      else io.stdout.write(file);
    });
}

/** Tells where whoever reads standard output leaves before the end: speech that is cut is a failure. */
function tellOfReader({ stdout, stderr }: CommandIo): void {
  stdout.prependListener("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") return;
    stderr.write("Standard output was closed before all was spoken.\n");
    process.exitCode = 1;
  });
}

/** @throws UsageError for what --chapters cannot be, and where there is no name for files */
function isInFiles({ chapters, output }: SayFlags): boolean {
  if (chapters === undefined || chapters === "marks") return false;
  if (chapters !== "files")
    throw new UsageError(`--chapters is ${JSON.stringify(chapters)}: write marks or files.`);
  if (output === undefined) throw new UsageError("--chapters files needs a name: add -o, as in -o book.mp3.");
  return true;
}

interface LongForm {
  readonly encoding: SegmentedKind;
  readonly form: CaptionForm | null;
  readonly inFiles: boolean;
}

/** Speaks a text that is longer than a request may be, passage by passage. */
async function speakLong(
  { chunks, totalChars, writing, isSsml }: LongText,
  { encoding, form, inFiles }: LongForm,
  flags: SayFlags,
  settings: Settings,
  io: CommandIo,
): Promise<void> {
  const { passagesIn } = await import("../text/passages.ts");
  const { scriptOf } = await import("../serving/script-of.ts");
  const { output, captions } = flags;
  if (output === undefined && captions !== undefined)
    throw new UsageError("Captions of a long text need its file beside them: add -o.");
  if (maxNewTokens(parsedParams(flags)) != null)
    throw new UsageError(
      "max_new_tokens in --params is for a text of one request: leave it out, since this is longer.",
    );
  leanHeap();
  const models = await modelsFor(flags, settings);
  const ssml = isSsml || flags.ssml === true ? await ssmlPassagesOf(chunks) : null;
  const first = await inManner(
    await prepare(ssml === null ? "A." : "<speak>A.</speak>", flags, models),
    flags,
    io,
  );
  const { manner, model, voice: whose } = await withOwnVoice(first, models, settings, io);
  const voice = await opened(model, settings, io.env);
  const stopping = new AbortController();
  const unlisten = onStopSignal(() => stopping.abort(new Error("It was stopped.")));
  const tell = cautionTeller(io);
  const script = async (text: string, seed: bigint) => {
    const prepared = await prepare(text, flags, models);
    tell(prepared.cautions);
    const own = {
      ...prepared,
      ...(manner === undefined ? {} : { manner }),
      ...(whose === undefined ? {} : { voice: whose }),
    };
    // At temperature 0 the seed is that of the words.
    const varies = prepared.delivery.temperature > 0 || prepared.delivery.acousticTemperature > 0;
    return scriptOf(varies ? { ...own, seed } : own, model.preset);
  };
  const passages = ssml ?? passagesIn(chunks, writing);
  const shared = { model: voice, signal: stopping.signal };
  try {
    if (output === undefined) {
      const { streamOrPlay } = await import("./book/stream-book.ts");
      return await streamOrPlay(passages, { ...shared, script, totalChars }, io);
    }
    const { speakBook } = await import("./book/speak-book.ts");
    const { version } = await import("../server/version.ts");
    await speakBook({
      ...shared,
      script,
      passages,
      totalChars,
      output,
      encoding,
      inFiles,
      captions: captions === undefined || form === null ? null : { file: captions, form },
      options: JSON.stringify([version(), flags, writing]),
      screen: io.stderr,
    });
  } finally {
    unlisten();
    await voice.close();
  }
}

/** A long text of SSML as documents of its own. @throws UsageError where it cannot be read */
async function ssmlPassagesOf(chunks: AsyncIterable<string>): Promise<AsyncIterable<Passage>> {
  const { readMarks } = await import("../text/read-marks.ts");
  const { MarkupError } = await import("../text/markup.ts");
  const { ssmlPassages } = await import("../text/ssml/ssml-passages.ts");
  const text = await wholeText(chunks);
  try {
    readMarks(text, true, ([name = ""]) => name);
    return Readable.from(ssmlPassages(text));
  } catch (error) {
    if (!(error instanceof MarkupError)) throw error;
    throw new UsageError(`This cannot be said: text: ${error.message}.`);
  }
}

/** Tells what of a text is not done, each caution once. */
function cautionTeller({ stderr }: CommandIo): (cautions: readonly string[] | undefined) => void {
  const told = new Set<string>();
  return (cautions = []) => {
    for (const caution of cautions) {
      if (told.has(caution)) continue;
      told.add(caution);
      // A line of progress may stand there.
      stderr.write(`${stderr.isTTY === true ? "\r\u001b[K" : ""}Not followed: ${caution}.\n`);
    }
  };
}

/**
 * Keeps the heap for what lives shortly as small as it is at the beginning. It would grow by some 30 MB over a long text, and
 * no time would be saved.
 */
function leanHeap(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

const ENCODINGS: Readonly<Record<string, SegmentedKind>> = {
  "": "wav",
  ".wav": "wav",
  ".mp3": "mp3",
  ".opus": "opus",
  ".ogg": "opus",
  ".flac": "flac",
};

/** What the end of a file's name asks for; without one it is a WAV. */
function encodingOf(output = ""): SegmentedKind {
  const ending = extname(output).toLowerCase();
  const encoding = ENCODINGS[ending];
  if (encoding !== undefined) return encoding;
  const valid = Object.keys(ENCODINGS).filter((each) => each !== "");
  throw new UsageError(
    `Files that end in ${ending} cannot be made: end the name after -o in one of ${valid.join(", ")}.`,
  );
}

interface Spoken {
  readonly file: Uint8Array;
  readonly spoken: { readonly text: string; readonly words: readonly SpokenWord[] };
}

async function speak(
  text: string,
  encoding: SegmentedKind,
  flags: SayFlags,
  settings: Settings,
  io: CommandIo,
): Promise<Spoken> {
  const models = await modelsFor(flags, settings);
  const asked = await inManner(await prepare(text, flags, models), flags, io);
  cautionTeller(io)(asked.cautions);
  const prepared = await withOwnVoice(asked, models, settings, io);
  const { fileOf } = await import("../model/encoded-speech.ts");
  const { scriptOf } = await import("../serving/script-of.ts");
  const { MarkCollector, spokenPiece } = await import("../serving/spoken-piece.ts");
  const { joinedBytes } = await import("../audio/joined.ts");
  const voice = await opened(prepared.model, settings, io.env);
  try {
    const pieces: Uint8Array[] = [];
    const script = scriptOf(prepared, prepared.model.preset);
    const all = new MarkCollector();
    const speech = fileOf(voice, script, encoding, new AbortController().signal);
    let step = await speech.next();
    for (; !step.done; step = await speech.next()) {
      const { bytes, marks } = spokenPiece(step.value);
      pieces.push(bytes);
      all.add(marks);
    }
    const file = joinedBytes(pieces);
    const { finishedHead = [], stop, spoken, voice: followed } = step.value;
    file.set(finishedHead);
    if (stop === "length")
      io.stderr.write(
        `Only ${countChars(spoken)} of ${countChars(text)} characters were spoken: max_new_tokens is ${prepared.delivery.maxFrames}.
`,
      );
    const { cautions = [] } = followed ?? {};
    if (cautions.length > 0 && flags.voiceLike !== undefined) {
      io.stderr.write(
        `The recording is followed less closely (${cautions.join(", ")}): docs/voices.md says what helps.
`,
      );
    }
    return {
      file,
      spoken: { text: prepared.conversation.open.text ?? "", words: all.marks().words ?? [] },
    };
  } catch (error) {
    const isCalledWrongly = error instanceof NothingToSpeakError || error instanceof ConversationError;
    if (!isCalledWrongly) throw error;
    throw new UsageError(`This cannot be said: ${error.message}.`);
  } finally {
    await voice.close();
  }
}

/** What there is to speak. What is computed here is looked over only where a voice is named, which may be its own. */
async function modelsFor({ voice }: SayFlags, settings: Settings): Promise<readonly PublicModel[]> {
  if (voice !== undefined) return (await import("./stored-voice.ts")).modelsHere(settings);
  const { offeredModels } = await import("../catalogue/offered-models.ts");
  const { withVoiceManners } = await import("../server/voice-manners.ts");
  return withVoiceManners(offeredModels(settings), settings);
}

/** Said as --instructions have it; what of them is not done is told. */
async function inManner(prepared: Prepared, { instructions }: SayFlags, io: CommandIo): Promise<Prepared> {
  if (instructions === undefined) return prepared;
  const { readInstructions } = await import("../serving/manner/read-manner.ts");
  const { mannerTold } = await import("../serving/manner/told.ts");
  const found = readInstructions(instructions);
  if (found === null) return prepared;
  const told = mannerTold(found.read, prepared.model.card.takes.manner);
  if (told.includes("not followed")) io.stderr.write(`Said as: ${told}.\n`);
  return { ...prepared, manner: found.asked };
}

/** With the recording whose voice was asked for, where it was one. */
async function withOwnVoice(
  prepared: Prepared,
  models: readonly PublicModel[],
  settings: Settings,
  io: CommandIo,
): Promise<Prepared> {
  const { ownVoice, model } = prepared;
  if (ownVoice === undefined) return prepared;
  const { storedVoice } = await import("./stored-voice.ts");
  return { ...prepared, voice: await storedVoice(ownVoice, model, models, settings, io) };
}

/** What speaks for a model: in a thread here, or elsewhere. */
async function opened(
  { checkpoint }: PublicModel,
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<SpeechModel> {
  const { remoteCheckpoints } = await import("../server/remote-checkpoints.ts");
  const remote = remoteCheckpoints(settings, { env }).find(({ name }) => name === checkpoint);
  if (remote !== undefined) return await remote.load();
  const { codecLmCheckpoints } = await import("../server/codec-lm-checkpoints.ts");
  const [local] = await codecLmCheckpoints(settings, { only: checkpoint });
  if (local !== undefined) return await local.load();
  const { serverLexicon } = await import("../server/lexicon-file.ts");
  const words = await serverLexicon(settings);
  const { KOKORO_CHECKPOINT } = await import("../catalogue/kokoro-cast.ts");
  if (checkpoint === KOKORO_CHECKPOINT) {
    const { kokoroCheckpoint } = await import("../server/kokoro-checkpoint.ts");
    const kokoro = await kokoroCheckpoint(settings, { words, threads: 1 });
    if (kokoro !== null) return await kokoro.load();
  }
  const { openEmbeddedVoice } = await import("../server/embedded-voice.ts");
  return await openEmbeddedVoice({ threads: 1, words });
}

/** What is wrong with the text or the flags was called wrongly, however late it is found. */
async function prepare(text: string, flags: SayFlags, models: readonly PublicModel[]): Promise<Prepared> {
  const { parseConverseRequest, parseTtsRequest } = await import("../contract/validate.ts");
  const { prepareConverse, prepareTts } = await import("../serving/prepare.ts");
  const { findModel } = await import("../catalogue/public-models.ts");
  const { speaker, voice, model, voiceLike } = flags;
  if (voice !== undefined && voiceLike !== undefined)
    throw new UsageError("Only one of --voice and --voice-like can be given: leave the other out.");
  const by = speaker === undefined ? {} : { speaker };
  const how = {
    ...(model === undefined ? {} : { model }),
    ...parsedParams(flags),
    ...(flags.ssml === true ? { input_type: "ssml" } : {}),
  };
  const wav = voiceLike === undefined ? null : await read(voiceLike);
  const resolve = (id: string | null) => findModel(models, id);
  try {
    const whose = voice === undefined ? {} : { voice };
    const alone = prepareTts(parseTtsRequest({ text, ...by, ...whose, ...how }), resolve);
    if (wav === null) return atItsLength(alone, how);
    const conversation = [
      { ...by, audio_wav_b64: wav.toString("base64") },
      { ...by, text },
    ];
    return atItsLength(prepareConverse(parseConverseRequest({ conversation, ...how }), resolve), how);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const reason = error.message.replace(
      "conversation[0].audio_wav_b64",
      () => `${voiceLike} (--voice-like)`,
    );
    throw new UsageError(`This cannot be said: ${reason}.`);
  }
}

/** All of it is spoken, unless --params says how much at most. */
function atItsLength(prepared: Prepared, how: { readonly params?: unknown }): Prepared {
  if (maxNewTokens(how) != null) return prepared;
  return { ...prepared, delivery: { ...prepared.delivery, maxFrames: MAX_SPEECH_FRAMES } };
}

/** The file that `--voice-like` names, as a WAV; of one over the cap no more than shows that it is. */
async function read(file: string): Promise<Buffer> {
  const { MAX_TURN_AUDIO_BYTES } = await import("../contract/limits.ts");
  const bytes = await buffer(createReadStream(file, { end: MAX_TURN_AUDIO_BYTES })).catch(
    (error: NodeJS.ErrnoException) => {
      throw new UsageError(
        `The file ${file} cannot be read (${error.code}): name a recording with --voice-like.`,
      );
    },
  );
  // What is no recording at all is refused as a turn's audio is.
  if (bytes.subarray(0, 4).toString("latin1") === "RIFF" || bytes.length > MAX_TURN_AUDIO_BYTES) return bytes;
  const { asWav } = await import("../server/recording-as-wav.ts");
  return (await asWav(bytes)) ?? bytes;
}

/** What captions are asked for; null for none. */
function captionForm({ captions, words: hasWordTimes = false }: SayFlags): CaptionForm | null {
  const ending = /\.(vtt|srt)$/i.exec(captions ?? "")?.[1]?.toLowerCase();
  if (captions !== undefined && ending !== "vtt" && ending !== "srt")
    throw new UsageError(
      `The format of the captions ${captions} is unknown: name a file that ends in .vtt or .srt.`,
    );
  if (hasWordTimes && ending !== "vtt")
    throw new UsageError("Only WebVTT has word times: give --captions a file that ends in .vtt.");
  return ending === "vtt" || ending === "srt" ? { ending, hasWordTimes } : null;
}

async function captions({ text, words }: Spoken["spoken"], form: CaptionForm): Promise<string> {
  const { cuesOf, toSrt, toVtt } = await import("../captions/captions.ts");
  const cues = cuesOf(words, text, { hasWordTimes: form.hasWordTimes });
  return form.ending === "srt" ? toSrt(cues) : toVtt(cues);
}

/** Writes the file that an option names. */
async function write(file: string, content: Uint8Array | string, option: string): Promise<void> {
  await writeFile(file, content).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`The file ${file} cannot be written (${error.code}): name another with ${option}.`, {
      cause: error,
    });
  });
}

function maxNewTokens({ params }: { readonly params?: unknown }): unknown {
  return (params as { max_new_tokens?: unknown } | undefined)?.max_new_tokens;
}

function parsedParams({ params: json }: SayFlags): { readonly params?: unknown } {
  if (json === undefined) return {};
  try {
    return { params: JSON.parse(json) };
  } catch {
    throw new UsageError(`--params is not JSON: write it like '{"temperature": 0}'.`);
  }
}
