import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import type { Script, VoicePart } from "../../core/script.ts";
import { readConversation } from "./antiphon-stream.ts";
import { base64Wav } from "./base64-wav.ts";
import { calledThere, chosenPart, passedOnName } from "./chosen-part.ts";
import type { Dialect, RemoteOptions } from "./dialect.ts";
import { blamingVoice } from "./refused-voice.ts";

/** As many code points as a turn may have; and as many as are sure to be spoken within the frames of one request. */
export const MAX_CHARS = 8_000;
const CHARS_IN_MAX_FRAMES = 1_000;
/** In a conversation. */
const MAX_TURNS = 64;

/**
 * Another Antiphon, by its `POST /v1/converse/stream`: it is given the whole conversation with its audio, the knobs, the
 * pronunciations and whether the mouth is told of. A seed has no place there, nor has a speed.
 */
export function antiphonDialect({ model, voices }: RemoteOptions): Dialect {
  const labelOf = (speaker: string): string => calledThere(speaker, voices);
  const speakerOf = (label: string): string =>
    Object.keys(voices).find((speaker) => voices[speaker] === label) ?? label;
  return {
    route: "/converse/stream",
    accept: "text/event-stream",
    async prepare(script, signal) {
      const part = chosenPart(script.voice);
      const conversation = await conversationBody(script, part, model, labelOf, signal);
      const read = blamingVoice(passedOnName(part, voices), readConversation);
      return {
        maxChars: script.delivery.maxFrames > FRAMES.max ? CHARS_IN_MAX_FRAMES : MAX_CHARS,
        request: (text, maxFrames) => ({
          body: [...conversation.opening, conversation.closing(text, maxFrames)],
          read,
        }),
        finish: () => conversation.finish(),
        voiceOf: (voice) => ({ ...voice, start: speakerOf(voice.start) }),
      };
    },
  };
}

/** The frames that an Antiphon may be asked for in one request. */
export const FRAMES = { min: 16, max: 2_048 } as const;

/** What stays the same over the requests of an utterance: the body up to the open turn's text, and from there on. */
interface ConversationBody {
  readonly opening: readonly Uint8Array[];
  /** The rest of it, for some words that may have so many frames. */
  closing(text: string, maxFrames: number): Uint8Array;
  /** Lets go of the opening: no more requests will be made. */
  finish(): void;
}

/**
 * The conversation of a script as `POST /v1/converse/stream` takes it, but for its open turn's text. Throws the signal's
 * reason when that aborts.
 *
 * @param part the voice that was chosen; `null` leaves that to the label
 * @param model what the other Antiphon calls it; `null` is its default
 * @param labelOf what it calls a speaker
 */
async function conversationBody(
  { history, speaker, delivery, lexicon = [], hasMouth = false }: Script,
  part: VoicePart | null,
  model: string | null,
  labelOf: (speaker: SpeakerLabel) => SpeakerLabel,
  signal: AbortSignal,
): Promise<ConversationBody> {
  const opening: Uint8Array[] = [Buffer.from('{"conversation":[')];
  for (const turn of part === null ? history : castHistory(history, speaker, part))
    opening.push(...(await turnJson(turn, labelOf(turn.speaker), signal)));
  return {
    opening,
    closing(text, maxFrames) {
      const open = JSON.stringify({ speaker: labelOf(speaker), text });
      const rest = {
        ...(part !== null && "id" in part ? { voices: { [labelOf(speaker)]: labelOf(part.id) } } : {}),
        ...(model === null ? {} : { model }),
        params: {
          temperature: delivery.temperature,
          acoustic_temperature: delivery.acousticTemperature,
          top_k: delivery.topK,
          repetition_penalty: delivery.repetitionPenalty,
          penalty_window: delivery.penaltyWindow,
          max_new_tokens: Math.max(FRAMES.min, Math.min(FRAMES.max, maxFrames)),
          audio_quality: delivery.quality,
        },
        ...(lexicon.length === 0 ? {} : { lexicon: Object.fromEntries(lexicon) }),
        ...(hasMouth ? { visemes: true } : {}),
      };
      return Buffer.from(`${open}],${JSON.stringify(rest).slice(1)}`);
    },
    finish: () => void opening.splice(0),
  };
}

/** The turns as they are told where a voice was chosen: without the speaker's own sound, and a recording before them all. */
function castHistory(history: readonly Turn[], speaker: SpeakerLabel, part: VoicePart): Turn[] {
  const others = history.flatMap((turn): Turn[] => {
    if (turn.speaker !== speaker) return [turn];
    return turn.text === null ? [] : [{ ...turn, audio: null }];
  });
  if (!("sample" in part)) return others;
  const { clip, text } = part.sample;
  // As many turns as a conversation may have, the open one among them.
  return [{ speaker, text, audio: clip }, ...others.slice(2 - MAX_TURNS)];
}

async function turnJson(
  { text, audio }: Turn,
  speaker: SpeakerLabel,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const json = JSON.stringify({ speaker, ...(text === null ? {} : { text }) });
  if (audio === null) return [Buffer.from(`${json},`)];
  const wav = await base64Wav(audio, signal);
  return [Buffer.from(`${json.slice(0, -1)},"audio_wav_b64":"`), ...wav, Buffer.from('"},')];
}
