import { once } from "node:events";
import { Readable } from "node:stream";
import type { SegmentedKind } from "../../audio/encode/segmented-file.ts";
import { wavHeader } from "../../audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinBytes } from "../../audio/pcm.ts";
import { quoted } from "../../contract/errors.ts";
import { MAX_SCRIPT_CHARS, MAX_SPEECH_FRAMES, MAX_TEXT_CHARS } from "../../contract/limits.ts";
import type { InputType } from "../../contract/requests.ts";
import { levelSpeech } from "../../core/level-speech.ts";
import type { Script } from "../../core/script.ts";
import type { SpeechModel } from "../../core/speech-model.ts";
import { UsageError } from "../../server/errors.ts";
import { version } from "../../server/version.ts";
import { buildScript } from "../../serving/prepare/build-script.ts";
import { longElementIn } from "../../serving/prepare/long-input.ts";
import { isVaried } from "../../serving/prepare/resolve-request.ts";
import { type DialogueScript, lineScript } from "../../serving/reply/speak-dialogue.ts";
import { passageSeed, synthesizePassages } from "../../serving/reply/synthesize-passages.ts";
import { hasSpeakable } from "../../text/characters.ts";
import { type Passage, splitPassages } from "../../text/sentences/passages.ts";
import { splitSsml } from "../../text/ssml/split-ssml.ts";
import type { SayFlags, SayRequests } from "../say-request.ts";
import type { CommandIo } from "../terminal/command-io.ts";
import { onStopSignal } from "../terminal/stop-signal.ts";
import { BookProgress } from "./book-progress.ts";
import type { CaptionForm } from "./book-sound.ts";
import { type LongText, wholeText } from "./long-text.ts";
import { speakBook } from "./speak-book.ts";

interface LongForm {
  readonly encoding: SegmentedKind;
  readonly form: CaptionForm | null;
  /** Whether each chapter is a file of its own. */
  readonly inFiles: boolean;
}

/** Speaks a text passage by passage, after checking as much of it as can be read in advance. */
export async function sayLong(
  text: LongText,
  { encoding, form, inFiles }: LongForm,
  flags: SayFlags,
  requests: SayRequests,
  io: CommandIo,
): Promise<void> {
  const { output, captions } = flags;
  if (output === undefined && captions !== undefined)
    throw new UsageError("Captions of a long text need an output file: add -o.");
  if (requests.isLimited)
    throw new UsageError(
      "max_new_tokens in --params is for a text of one request: leave it out, since this is spoken in parts.",
    );
  const { title = text.title, author = text.author } = flags;
  const inputType: InputType = text.isSsml || flags.ssml === true ? "ssml" : "text";
  const checkText = flags.dialogue === true ? checkDialogue : inputType === "ssml" ? checkSsml : checkPlain;
  const { passages, spokenChars, dialogue } = await checkText(text, requests);
  const { loudness } = flags;
  const opened = await requests.openVoice();
  const isStreamed = output === undefined && loudness !== undefined;
  const voice = isStreamed ? levelSpeech(opened, loudness) : opened;
  const stopping = new AbortController();
  const unlisten = onStopSignal(() => stopping.abort(new Error("It was stopped.")));
  const shared = {
    passages,
    totalChars: text.totalChars,
    spokenChars,
    model: voice,
    signal: stopping.signal,
    async script({ text: words, line }: Passage, seed: bigint) {
      if (dialogue !== undefined && line !== undefined)
        return lineScript(dialogue, requests.model, line.index, MAX_SPEECH_FRAMES);
      const prepared = await requests.prepare(words, inputType);
      return buildScript(isVaried(prepared) ? { ...prepared, seed } : prepared, requests.model.preset);
    },
  };
  try {
    if (output === undefined) return await streamOrPlay(shared, io);
    await speakBook({
      ...shared,
      output,
      encoding,
      ...{ inFiles, title, author, loudness: loudness ?? null },
      captions: captions === undefined || form === null ? null : { file: captions, form },
      options: {
        "the version of Antiphon": version(),
        ...(await requests.dependsOn()),
        "--ssml": inputType,
        "--file's ending": text.format,
        "--captions": captions ?? "",
        "--words": String(form?.hasWordTimes ?? false),
        "--chapters": String(inFiles),
        "--title": title,
        "--author": author,
      },
      screen: io.stderr,
    });
  } finally {
    unlisten();
    await voice.close();
  }
}

/** Checked text, and how many UTF-16 units of it are spoken; `null` if unknown. */
interface CheckedText {
  readonly passages: AsyncIterable<Passage>;
  readonly spokenChars: number | null;
  readonly dialogue?: DialogueScript;
}

/** Reads a script: each line is a passage, and each scene with a heading a chapter. */
async function checkDialogue({ chunks }: LongText, requests: SayRequests): Promise<CheckedText> {
  // In UTF-16 units, of which a code point may have two.
  const script = await wholeText(chunks, 2 * MAX_SCRIPT_CHARS, "A script");
  const dialogue = await requests.prepareDialogue(script);
  const { lines, speakers } = dialogue.dialogue;
  const passages = lines.map(({ text, scene, speaker, manner, offset, length }, index) => ({
    ...{ text, chapter: scene || null, readChars: offset + length },
    line: {
      ...{ index, speaker: speakers[speaker]!.name, direction: manner?.words ?? "" },
      pauseS: Math.max(0, (lines[index + 1]?.gapS ?? 0) - UTTERANCE_TAIL_S),
    },
  }));
  return { passages: Readable.from(passages), spokenChars: dialogue.input.chars, dialogue };
}

/** Silence that an utterance ends with. */
const UTTERANCE_TAIL_S = 0.2;

/** SSML is read at once, up to this many UTF-16 units. */
const MAX_SSML_CHARS = 16 * 2 ** 20;

/** Splits long SSML into documents. */
async function checkSsml({ chunks }: LongText, requests: SayRequests): Promise<CheckedText> {
  const text = await wholeText(chunks, MAX_SSML_CHARS, "SSML");
  const spokenChars = await requests.check(text, "ssml");
  const passages = splitSsml(text);
  const place = longElementIn(passages);
  if (place !== null)
    throw new UsageError(
      `This cannot be said: text: an element near ${place} holds more than ${MAX_TEXT_CHARS} characters that are spoken as one: divide it.`,
    );
  return { passages: Readable.from(passages), spokenChars };
}

/** Checks a text in advance if it can be read twice. */
async function checkPlain({ chunks, again, format }: LongText, requests: SayRequests): Promise<CheckedText> {
  let spokenChars: number | null = null;
  if (again !== null) {
    spokenChars = 0;
    for await (const { text } of splitPassages(again(), format))
      if (hasSpeakable(text))
        spokenChars += await requests.check(text, "text", `the text from ${quoted(text)} on`);
  }
  return { passages: splitPassages(chunks, format), spokenChars };
}

interface BookSpeech {
  readonly passages: AsyncIterable<Passage>;
  readonly model: SpeechModel;
  readonly signal: AbortSignal;
  /** UTF-16 units of the text; null for a pipe. */
  readonly totalChars: number | null;
  /** UTF-16 units that are spoken; null if unknown. */
  readonly spokenChars: number | null;
  script(passage: Passage, seed: bigint): Promise<Script>;
}

/** Plays a long text on a terminal, passage by passage; otherwise writes a WAV of open length to standard output. */
async function streamOrPlay(
  { passages, model, signal, totalChars, spokenChars, script }: BookSpeech,
  { stdout, stderr }: CommandIo,
): Promise<void> {
  const isPlayed = stdout.isTTY === true;
  const { play } = await import("../terminal/audio-devices.ts");
  let pieces: Uint8Array[] = [];
  /** Plays while the next passage is generated. */
  let playing: Promise<void> = Promise.resolve();
  let bytes = 0;
  if (!isPlayed) stdout.write(wavHeader(null, SAMPLE_RATE_HZ));
  const progress = new BookProgress(stderr, { totalChars, spokenChars });
  const speech = synthesizePassages(passages, {
    model,
    signal,
    script: (passage, index) => script(passage, passageSeed(passage, index)),
  });
  let chapter: string | null = null;
  try {
    progress.begin(0, 0);
    for await (const spoken of speech) {
      if (spoken.kind === "sound") {
        bytes += spoken.pcm.length;
        if (isPlayed) pieces.push(spoken.pcm);
        else if (!stdout.write(spoken.pcm)) await once(stdout, "drain", { signal });
      } else if (spoken.kind === "end") {
        chapter = spoken.passage.chapter ?? chapter;
        progress.show(spoken.passage.readChars, bytes / 2 / SAMPLE_RATE_HZ, chapter);
        if (!isPlayed) continue;
        await playing;
        const pcm = joinBytes(pieces);
        pieces = [];
        playing = play(joinBytes([wavHeader(pcm.length, SAMPLE_RATE_HZ), pcm]));
        // A failure is thrown by the `await` before the next passage.
        playing.catch(() => {});
      }
    }
    await playing;
  } finally {
    progress.end();
  }
}
