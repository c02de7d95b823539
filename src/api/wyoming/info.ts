import type { Voice } from "../../contract/voices.ts";
import { LANGUAGE_NAMES } from "../../core/languages.ts";
import { isWithin } from "../../serving/prepare/choose-language.ts";
import { encodeEvent, type WyomingEvent, wyomingEvent } from "./wyoming-event.ts";

interface BridgeInfo {
  readonly version: string;
  /** `null`: recordings cannot be transcribed. */
  readonly recogniserName: string | null;
  /** The speaking model's voices and the recorded ones. */
  readonly voices: readonly Voice[];
}

/**
 * Creates a function that returns the encoded answer to `describe`. The answer is long, so it is cached until it
 * changes; concurrent calls share one listing of the voices.
 */
export function createInfoResponder(
  version: string,
  recogniserName: () => Promise<string | null>,
  listVoices: () => Promise<readonly Voice[]>,
): () => Promise<Uint8Array> {
  let cached: { readonly of: string; readonly bytes: Uint8Array } | null = null;
  let listing: Promise<readonly Voice[]> | null = null;
  return async () => {
    listing ??= listVoices().finally(() => {
      listing = null;
    });
    const info: BridgeInfo = { version, voices: await listing, recogniserName: await recogniserName() };
    const of = JSON.stringify(info);
    if (cached?.of !== of) cached = { of, bytes: encodeEvent(infoEvent(info)) };
    return cached.bytes;
  };
}

function infoEvent({ version, recogniserName, voices }: BridgeInfo): WyomingEvent {
  const common = { attribution: ATTRIBUTION, installed: true, version };
  return wyomingEvent("info", {
    tts: [
      {
        name: "antiphon",
        description: "Antiphon speaks",
        ...common,
        voices: voices.map((voice) => ({
          // Clients store this name. A recorded voice is stored by its own name, since a newer recording may take it
          // over.
          name: voice.owner === "model" ? voice.id : voice.name,
          description: descriptionOf(voice),
          ...common,
          languages: voice.language === null || isWithin(voice.language, "en") ? ENGLISH : [voice.language],
          speakers: null,
        })),
        supports_synthesize_streaming: true,
      },
    ],
    asr: recogniserName === null ? [] : [recogniserInfo(recogniserName, common)],
    ...OTHER_SERVICES,
  });
}

/** Home Assistant offers a voice for each of these by its exact name. */
const ENGLISH: readonly string[] = ["en", "en-US", "en-GB"];

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

/** The project has no address of its own, but its licence has. */
const ATTRIBUTION = { name: "Antiphon", url: "https://www.apache.org/licenses/LICENSE-2.0" };

const OTHER_SERVICES = { handle: [], intent: [], wake: [], mic: [], snd: [] };
