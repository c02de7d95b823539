import type { Antiphon, OpenSettings } from "./types.ts";

export type {
  Antiphon,
  ConverseOptions,
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
 * Opens Antiphon in this process: the same service as `antiphon serve` runs, without keys, metering and HTTP. What is needed is
 * loaded when it is first used: opening reads settings and looks at folders.
 *
 * @throws AntiphonError for a setting that is unknown or is not what it takes
 */
export async function open(settings: OpenSettings = {}): Promise<Antiphon> {
  const { openHere } = await import("./open-here.ts");
  return await openHere(settings);
}
