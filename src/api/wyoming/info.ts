import type { Voice } from "../../contract/voices.ts";
import { LANGUAGE_NAMES } from "../../core/languages.ts";
import { VOICE_LANGUAGES } from "./synthesize.ts";
import { encodeEvent, type WyomingEvent, wyomingEvent } from "./wyoming-event.ts";

/** What a bridge says of itself. */
interface BridgeInfo {
  /** The program's. */
  readonly version: string;
  /** What the recogniser calls itself; `null` where recordings cannot be heard. */
  readonly recogniserName: string | null;
  /** Those that the model that speaks has, and those by recordings. */
  readonly voices: readonly Voice[];
}

/**
 * The answer to `describe` as it goes over the wire, made anew only when it changes: it is long beside the question. The voices
 * are asked for once for all who ask together.
 */
export function createInfoResponder(
  version: string,
  recogniserName: () => string | null,
  listVoices: () => Promise<readonly Voice[]>,
): () => Promise<Uint8Array> {
  let cached: { readonly of: string; readonly bytes: Uint8Array } | null = null;
  let listing: Promise<readonly Voice[]> | null = null;
  return async () => {
    listing ??= listVoices().finally(() => {
      listing = null;
    });
    const info: BridgeInfo = { version, recogniserName: recogniserName(), voices: await listing };
    const of = JSON.stringify(info);
    if (cached?.of !== of) cached = { of, bytes: encodeEvent(infoEvent(info)) };
    return cached.bytes;
  };
}

/** The answer to `describe`: who speaks, and who hears where somebody does. */
function infoEvent({ version, recogniserName, voices }: BridgeInfo): WyomingEvent {
  const common = { attribution: ATTRIBUTION, installed: true, version };
  return wyomingEvent("info", {
    tts: [
      {
        name: "antiphon",
        description: "Antiphon speaks",
        ...common,
        voices: voices.map((voice) => ({
          // A recording's is chosen for good by its name, which another recording may have one day.
          name: voice.owner === "model" ? voice.id : voice.name,
          description: descriptionOf(voice),
          ...common,
          languages: VOICE_LANGUAGES,
          speakers: null,
        })),
        supports_synthesize_streaming: true,
      },
    ],
    asr: recogniserName === null ? [] : [recogniserInfo(recogniserName, common)],
    ...OTHER_SERVICES,
  });
}

function descriptionOf({ name, description }: Voice): string {
  if (description === "") return name;
  return `${name}, ${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, "")}`;
}

function recogniserInfo(name: string, common: object): object {
  const languages = name.endsWith(".en") ? ["en"] : [...LANGUAGE_NAMES.keys()];
  return {
    name: "antiphon",
    description: "Antiphon listens",
    ...common,
    models: [{ name, description: name, ...common, languages }],
    supports_transcript_streaming: false,
  };
}

const ATTRIBUTION = { name: "Antiphon", url: "" };

/** What other services have. */
const OTHER_SERVICES = { handle: [], intent: [], wake: [], mic: [], snd: [] };
