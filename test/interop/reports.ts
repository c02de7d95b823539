import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { SpeechFormat } from "../../src/contract/audio-speech.ts";
import { decode } from "../audio/encode/decoders.ts";
import { decoded } from "../audio/recordings/decoded.ts";
import type { HeardSound } from "../recognition/read-whole.ts";
import { SEGMENTS } from "../recognition/scripted-recogniser.ts";
import type { ConversationReport } from "./conversation.ts";
import { compareSpeech, FIDELITY, type Fidelity, type Sound } from "./fidelity.ts";
import type { SteadyServer } from "./steady-server.ts";

/** The text of the recording that clients send, spoken by voice `0`. */
export const RECORDED = "The kettle is on. Is there any milk?";
/** The scripted recogniser's transcript of any audio. */
export const TRANSCRIPT = SEGMENTS.map(({ text }) => text).join(" ");

/** A line of JSON that a client's script prints for each check. */
export type Report =
  | SpeechReport
  | TranscriptReport
  | ConversationReport
  | { readonly what: string; readonly kind: "passed" };

interface SpeechReport {
  readonly what: string;
  readonly kind: "speech";
  readonly text: string;
  readonly voice: string;
  readonly format: SpeechFormat;
  /** In the client's folder: PCM16 if the client decoded it, otherwise the bytes received. */
  readonly file: string;
  readonly is_decoded: boolean;
  /** In Hz, as reported by the client. */
  readonly rate: number;
  /** Seconds to the first audio; null if the client does not stream. */
  readonly first_s: number | null;
  /** Samples that the client drops at the beginning, and may drop or add at the end. */
  readonly lost_head: number;
  readonly may_lack: number;
  readonly may_add: number;
}

/** A transcript of {@link RECORDED} or of other audio. */
interface TranscriptReport {
  readonly what: string;
  readonly kind: "transcript";
  readonly text: string;
  readonly is_recorded: boolean;
}

export function reportsIn(stdout: string): Report[] {
  return stdout
    .split("\n")
    .filter((line) => line.startsWith('{"what":'))
    .map((line) => JSON.parse(line));
}

/** Checks a report and returns details. Throws faults. @param clips the recogniser's audio; a transcript removes the first */
export async function checkReport(
  report: Report,
  folder: string,
  server: SteadyServer,
  clips: HeardSound[],
): Promise<string> {
  if (report.kind === "speech") return checkSpeech(report, folder, server);
  if (report.kind === "transcript") return checkTranscript(report, server, clips.shift());
  return "";
}

async function checkSpeech(report: SpeechReport, folder: string, server: SteadyServer): Promise<string> {
  const bytes = await readFile(join(folder, report.file));
  const sound = await (report.is_decoded ? decode("pcm", bytes) : soundOf(report.format, bytes));
  const rateHz = report.is_decoded ? report.rate : sound.rateHz;
  const spoken = (await server.spoken(report.text, report.voice, rateHz)).subarray(report.lost_head);
  const promised = FIDELITY[report.format];
  const [least, most] = promised.more;
  const allowed: Fidelity = { ...promised, more: [least - report.may_lack, most + report.may_add] };
  const heard = { samples: sound.samples, rateHz };
  const { seconds, more, correlation } = compareSpeech(heard, { samples: spoken, rateHz }, allowed);
  const lost = report.lost_head === 0 ? "" : `, less the first ${report.lost_head} samples`;
  const first = report.first_s === null ? "" : `, the first after ${Math.round(report.first_s * 1_000)} ms`;
  const extra = more === 0 ? "" : `, ${more > 0 ? "+" : ""}${more} samples`;
  return `${seconds.toFixed(2)} s${first}, correlation ${correlation.toFixed(4)}${extra}${lost}`;
}

/** Decodes a file with third-party decoders, except FLAC, whose browser decoder drops a short last frame. */
export async function soundOf(format: SpeechFormat, bytes: Uint8Array): Promise<Sound> {
  if (format !== "flac") return decode(format, bytes);
  const { samples, sampleRateHz } = await decoded(bytes, 600);
  return { samples, rateHz: sampleRateHz };
}

async function checkTranscript(
  { text, is_recorded: isRecorded }: TranscriptReport,
  server: SteadyServer,
  clip: HeardSound | undefined,
): Promise<string> {
  if (text !== TRANSCRIPT) throw new Error(`the transcript is ${JSON.stringify(text)}`);
  if (clip === undefined) throw new Error("nothing was heard");
  if (!isRecorded) return `${clip.durationS.toFixed(2)} s heard`;
  const spoken = await server.spoken(RECORDED, "0", 24_000);
  const sound = { samples: clip.samples, rateHz: clip.sampleRateHz };
  const { correlation } = compareSpeech(sound, { samples: spoken, rateHz: 24_000 }, FIDELITY.wav);
  return `${clip.durationS.toFixed(2)} s heard, correlation ${correlation.toFixed(4)}`;
}
