import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { readEvents, type SentEvent } from "../../client/server-sent-events.ts";
import type { SpeakerLabel, Turn } from "../../core/conversation.ts";
import { isRecord } from "../../core/is-record.ts";
import type { Script, VoicePart } from "../../core/script.ts";
import type { FollowedVoice, SpokenWord, TimedName } from "../../core/speech-model.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import {
  type Dialect,
  encodeBase64Wav,
  type RemoteOptions,
  remoteVoiceName,
  singleVoice,
  unmappedVoice,
  withVoiceCheck,
} from "./dialect.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { PcmDecoder } from "./pcm-frames.ts";
import type { SpeechChunk, SpeechEnd } from "./speech-chunks.ts";

/** Maximum code points of a turn, and a number that surely fits into the frames of one request. */
export const MAX_CHARS = 8_000;
const CHARS_IN_MAX_FRAMES = 1_000;
const MAX_TURNS = 64;

/**
 * Creates the dialect of another Antiphon, `POST /v1/converse/stream`. It sends the whole conversation with audio,
 * the sampling parameters, pronunciations and whether to return visemes. The API takes no seed and no speed.
 */
export function antiphonDialect({ model, voices }: RemoteOptions): Dialect {
  const labelOf = (speaker: string): string => remoteVoiceName(speaker, voices);
  const speakerOf = (label: string): string =>
    Object.keys(voices).find((speaker) => voices[speaker] === label) ?? label;
  return {
    route: "/converse/stream",
    accept: "text/event-stream",
    async prepare(script, signal) {
      const part = singleVoice(script.voice);
      const conversation = await encodeConversation(script, part, model, labelOf, signal);
      const read = withVoiceCheck(unmappedVoice(part, voices), readAntiphonStream);
      return {
        maxChars: script.delivery.maxFrames > FRAMES_PER_REQUEST.max ? CHARS_IN_MAX_FRAMES : MAX_CHARS,
        request: (text, maxFrames) => ({
          body: [...conversation.opening, conversation.closing(text, maxFrames)],
          read,
        }),
        finish: () => conversation.finish(),
        toLocalVoice: (voice) => ({ ...voice, start: speakerOf(voice.start) }),
      };
    },
  };
}

/** Frames that one request may ask for. */
export const FRAMES_PER_REQUEST = { min: 16, max: 2_048 } as const;

/** JSON that the requests of an utterance share, up to the open turn's text. */
interface ConversationBody {
  readonly opening: readonly Uint8Array[];
  /** Returns the rest of the JSON, for a text of at most so many frames. */
  closing(text: string, maxFrames: number): Uint8Array;
  /** Releases the opening after the last request. */
  finish(): void;
}

/**
 * Encodes a script's conversation for `POST /v1/converse/stream`, except for its open turn's text. Throws the
 * signal's reason.
 *
 * @param part the chosen voice; `null`: the label's
 * @param model the remote model; `null`: the default
 * @param labelOf returns the remote name of a speaker
 */
async function encodeConversation(
  { history, speaker, delivery, lexicon = [], hasMouth = false }: Script,
  part: VoicePart | null,
  model: string | null,
  labelOf: (speaker: SpeakerLabel) => SpeakerLabel,
  signal: AbortSignal,
): Promise<ConversationBody> {
  const opening: Uint8Array[] = [Buffer.from('{"conversation":[')];
  // Every Antiphon has two labels. Further speakers share the one that is not the open turn's.
  const shared = speaker === "1" ? "0" : "1";
  const sent = (label: SpeakerLabel) => labelOf(/^[01]$/.test(label) || label === speaker ? label : shared);
  for (const turn of part === null ? history : historyWithVoice(history, speaker, part))
    opening.push(...(await encodeTurn(turn, sent(turn.speaker), signal)));
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
          max_new_tokens: Math.max(FRAMES_PER_REQUEST.min, Math.min(FRAMES_PER_REQUEST.max, maxFrames)),
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

/** Returns the history for a chosen voice: the speaker's audio is left out, and a recording comes first. */
function historyWithVoice(history: readonly Turn[], speaker: SpeakerLabel, part: VoicePart): Turn[] {
  const others = history.flatMap((turn): Turn[] => {
    if (turn.speaker !== speaker) return [turn];
    return turn.text === null ? [] : [{ ...turn, audio: null }];
  });
  if (!("sample" in part)) return others;
  const { clip, text } = part.sample;
  // The open turn counts too.
  return [{ speaker, text, audio: clip }, ...others.slice(2 - MAX_TURNS)];
}

async function encodeTurn(
  { text, audio }: Turn,
  speaker: SpeakerLabel,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const json = JSON.stringify({ speaker, ...(text === null ? {} : { text }) });
  if (audio === null) return [Buffer.from(`${json},`)];
  const wav = await encodeBase64Wav(audio, signal);
  return [Buffer.from(`${json.slice(0, -1)},"audio_wav_b64":"`), ...wav, Buffer.from('"},')];
}

/**
 * Reads the events of `POST /v1/converse/stream`, which finish with `end`, fail with `error`, and are cut off
 * otherwise. Throws {@link AttemptError} in the latter cases and for other data.
 */
export async function* readAntiphonStream(
  exchange: HttpExchange,
): AsyncGenerator<SpeechChunk, SpeechEnd, void> {
  const head = await exchange.head();
  checkStatus(head);
  if (!(head.headers["content-type"] ?? "").startsWith("text/event-stream"))
    throw permanentError("did not answer with an Antiphon event stream: check urls and kind");
  for await (const event of readLimitedEvents(exchange)) {
    if (event.event === "audio") yield parseAudio(event);
    else if (event.event === "end") return parseEnd(event);
    else if (event.event === "error") throw new AttemptError("reported an error in its stream");
  }
  throw new AttemptError("ended its stream without an end event");
}

/** Generous: the last event holds every word of a reply. */
const MAX_EVENT_BYTES = 8 * 2 ** 20;

async function* readLimitedEvents(exchange: HttpExchange): AsyncGenerator<SentEvent, void, void> {
  let bytesOfEvent = 0;
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (let bytes = await exchange.next(); bytes !== null; bytes = await exchange.next()) {
      bytesOfEvent += bytes.length;
      if (bytesOfEvent > MAX_EVENT_BYTES) throw permanentError("sent an event that is too long");
      yield bytes;
    }
  }
  for await (const event of readEvents(chunks())) {
    bytesOfEvent = 0;
    yield event;
  }
}

function parseAudio(event: SentEvent): SpeechChunk {
  const { pcm_b64: base64, sample_rate: rateHz, words, visemes, phonemes } = parseData(event);
  if (typeof base64 !== "string" || rateHz !== SAMPLE_RATE_HZ) {
    throw permanentError(`sent audio that is not of ${SAMPLE_RATE_HZ} Hz`);
  }
  const samples = new PcmDecoder(1).push(Buffer.from(base64, "base64"));
  return {
    samples,
    ...(Array.isArray(words) ? { words: words.flatMap(parseWord) } : {}),
    ...(Array.isArray(visemes) || Array.isArray(phonemes)
      ? {
          mouth: {
            visemes: parseTimedNames(visemes, "viseme"),
            phonemes: parseTimedNames(phonemes, "phoneme"),
          },
        }
      : {}),
  };
}

function parseWord(value: unknown): SpokenWord[] {
  const { word, start, end, offset, length } = isRecord(value) ? value : {};
  if (typeof word !== "string" || !isTime(start) || !isTime(end)) return [];
  if (!isCount(offset) || !isCount(length)) return [];
  return [{ word, startS: start, endS: end, offset, length }];
}

function parseTimedNames(list: unknown, field: string): TimedName[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown) => {
    const { [field]: name, start, end } = isRecord(value) ? value : {};
    const isTimed = typeof name === "string" && isTime(start) && isTime(end);
    return isTimed ? [{ name, startS: start, endS: end }] : [];
  });
}

function parseEnd(event: SentEvent): SpeechEnd {
  const { meta } = parseData(event);
  const { stop, voice } = isRecord(meta) ? meta : {};
  const heard = parseVoice(voice);
  return { stop: stop === "length" ? "length" : "finished", ...(heard === null ? {} : { voice: heard }) };
}

/** Parses `meta.voice` of a reply; `null` if it is incomplete. */
function parseVoice(voice: unknown): FollowedVoice | null {
  if (!isRecord(voice) || typeof voice.start !== "string") return null;
  const { start, entrained_by: entrainedBy } = voice;
  if (entrainedBy !== null && !isCount(entrainedBy)) return null;
  const numbers = VOICE_NUMBERS.map(([wire]) => voice[wire]);
  if (!numbers.every(isTime)) return null;
  const measures = Object.fromEntries(VOICE_NUMBERS.map(([, own], index) => [own, numbers[index]!]));
  return {
    start,
    entrainedBy,
    followed: filterList(voice.followed, isText),
    turns: filterList(voice.turns, isCount),
    cautions: filterList(voice.cautions, isText),
    ...(measures as Record<(typeof VOICE_NUMBERS)[number][1], number>),
  };
}

const VOICE_NUMBERS = [
  ["speech_seconds", "speechS"],
  ["trust", "trust"],
  ["pitch_semitones", "pitchSemitones"],
  ["pitch_range", "pitchRange"],
  ["rate", "rate"],
  ["level_db", "levelDb"],
  ["warp", "warp"],
  ["spectrum_db", "spectrumDb"],
] as const;

function parseData({ data }: SentEvent): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) return value;
  } catch {}
  throw permanentError("sent an event that is not a JSON object");
}

function filterList<T>(value: unknown, isOne: (each: unknown) => each is T): T[] {
  return Array.isArray(value) ? value.filter(isOne) : [];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
