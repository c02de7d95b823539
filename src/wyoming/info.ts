import { LANGUAGE_NAMES } from "../model/languages.ts";
import type { CastVoice } from "../model/model-card.ts";
import { encodeEvent, eventOf, type WyomingEvent } from "./event.ts";
import { VOICE_LANGUAGES } from "./speech.ts";

/** What a bridge says of itself. */
interface BridgeInfo {
  /** The program's. */
  readonly version: string;
  /** What the recogniser calls itself; `null` where recordings cannot be heard. */
  readonly recogniserName: string | null;
  /** Those of the model that speaks. */
  readonly voices: readonly CastVoice[];
}

/** The answer to `describe` as it goes over the wire, made anew only when it changes: it is long beside the question. */
export function createInfoResponder(
  version: string,
  recogniserName: () => string | null,
  voices: readonly CastVoice[],
): () => Uint8Array {
  let told: { readonly name: string | null; readonly bytes: Uint8Array } | null = null;
  return () => {
    const name = recogniserName();
    if (told === null || told.name !== name) {
      told = { name, bytes: encodeEvent(infoEvent({ version, recogniserName: name, voices })) };
    }
    return told.bytes;
  };
}

/** The answer to `describe`: who speaks, and who hears where somebody does. */
function infoEvent({ version, recogniserName, voices }: BridgeInfo): WyomingEvent {
  const ours = { attribution: ATTRIBUTION, installed: true, version };
  return eventOf("info", {
    tts: [
      {
        name: "antiphon",
        description: "Antiphon speaks",
        ...ours,
        voices: voices.map(({ id, name, description }) => ({
          name: id,
          description: `${name}, ${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/, "")}`,
          ...ours,
          languages: VOICE_LANGUAGES,
          speakers: null,
        })),
        supports_synthesize_streaming: true,
      },
    ],
    asr: recogniserName === null ? [] : [recogniserInfo(recogniserName, ours)],
    ...NOT_HERE,
  });
}

function recogniserInfo(name: string, ours: object): object {
  const languages = name.endsWith(".en") ? ["en"] : [...LANGUAGE_NAMES.keys()];
  return {
    name: "antiphon",
    description: "Antiphon listens",
    ...ours,
    models: [{ name, description: name, ...ours, languages }],
    supports_transcript_streaming: false,
  };
}

const ATTRIBUTION = { name: "Antiphon", url: "" };

/** What other services have. */
const NOT_HERE = { handle: [], intent: [], wake: [], mic: [], snd: [] };
