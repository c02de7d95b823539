import type { Antiphon, OpenSettings } from "./types.ts";

export type {
  Antiphon,
  ConverseOptions,
  DialogueLine,
  DialogueOptions,
  OpenSettings,
  Recording,
  SayOptions,
  SpeakOptions,
  Speech,
  SpeechEnd,
  SpeechFrame,
  SpokenWord,
  TranscribeOptions,
  Transcript,
  Turn,
} from "./types.ts";
export { AntiphonError, SAMPLE_RATE } from "./types.ts";

/**
 * Opens Antiphon in this process: the service of `antiphon serve` without keys, metering and HTTP. Opening only reads
 * settings and checks directories; everything else is loaded on first use.
 *
 * @throws AntiphonError for an unknown or invalid setting
 */
export async function open(settings: OpenSettings = {}): Promise<Antiphon> {
  // As in the command line: onnxruntime would send events about its use to Microsoft.
  process.env.ORT_DISABLE_TELEMETRY = "1";
  const { openHere } = await import("./open-here.ts");
  return await openHere(settings);
}
