import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { readEvents, type SentEvent } from "../../client/server-sent-events.ts";
import { isRecord } from "../../core/is-record.ts";
import type { HeardVoice, SpokenWord, TimedName } from "../../core/speech-model.ts";
import { AttemptError, checkStatus, permanentError } from "./attempt-error.ts";
import type { AnswerHead, Exchange } from "./exchange.ts";
import { PcmSamples } from "./pcm-samples.ts";
import type { SpeechChunk, SpeechEnd } from "./speech-chunks.ts";

/**
 * Takes the answer of `POST /v1/converse/stream` apart: audio and what begins in it. Such a stream is over with its
 * `end`, has failed with an `error`, and with neither was cut off. Throws {@link AttemptError} for the latter two, and for
 * what is none.
 */
export async function* readConversation(exchange: Exchange): AsyncGenerator<SpeechChunk, SpeechEnd, void> {
  const head = await exchange.head();
  checkStatus(head);
  checkType(head);
  for await (const event of eventsOf(exchange)) {
    if (event.event === "audio") yield soundOf(event);
    else if (event.event === "end") return endOf(event);
    else if (event.event === "error") throw new AttemptError("told of an error in its stream");
  }
  throw new AttemptError("ended its stream without an end");
}

function checkType({ headers }: AnswerHead): void {
  if ((headers["content-type"] ?? "").startsWith("text/event-stream")) return;
  throw permanentError("answered with something that is no stream of an Antiphon: check urls and kind");
}

/** An event that is longer is none. The last one holds every word of a reply. */
const MAX_EVENT_BYTES = 8 * 2 ** 20;

async function* eventsOf(exchange: Exchange): AsyncGenerator<SentEvent, void, void> {
  let bytesOfEvent = 0;
  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    for (let bytes = await exchange.next(); bytes !== null; bytes = await exchange.next()) {
      bytesOfEvent += bytes.length;
      if (bytesOfEvent > MAX_EVENT_BYTES) throw permanentError("sent an event without end");
      yield bytes;
    }
  }
  for await (const event of readEvents(chunks())) {
    bytesOfEvent = 0;
    yield event;
  }
}

function soundOf(event: SentEvent): SpeechChunk {
  const { pcm_b64: base64, sample_rate: rateHz, words, visemes, phonemes } = recordIn(event);
  if (typeof base64 !== "string" || rateHz !== SAMPLE_RATE_HZ) {
    throw permanentError(`sent audio that is not of ${SAMPLE_RATE_HZ} Hz`);
  }
  const samples = new PcmSamples(1).push(Buffer.from(base64, "base64"));
  return {
    samples,
    ...(Array.isArray(words) ? { words: words.flatMap(wordOf) } : {}),
    ...(Array.isArray(visemes) || Array.isArray(phonemes)
      ? { mouth: { visemes: timedNames(visemes, "viseme"), phonemes: timedNames(phonemes, "phoneme") } }
      : {}),
  };
}

function wordOf(value: unknown): SpokenWord[] {
  const { word, start, end, offset, length } = isRecord(value) ? value : {};
  if (typeof word !== "string" || !isTime(start) || !isTime(end)) return [];
  if (!isCount(offset) || !isCount(length)) return [];
  return [{ word, startS: start, endS: end, offset, length }];
}

function timedNames(list: unknown, field: string): TimedName[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown) => {
    const { [field]: name, start, end } = isRecord(value) ? value : {};
    const isTimed = typeof name === "string" && isTime(start) && isTime(end);
    return isTimed ? [{ name, startS: start, endS: end }] : [];
  });
}

function endOf(event: SentEvent): SpeechEnd {
  const { meta } = recordIn(event);
  const { stop, voice } = isRecord(meta) ? meta : {};
  const heard = voiceOf(voice);
  return { stop: stop === "length" ? "length" : "finished", ...(heard === null ? {} : { voice: heard }) };
}

/** `meta.voice` of a reply, back; `null` where it is not whole. */
function voiceOf(voice: unknown): HeardVoice | null {
  if (!isRecord(voice) || typeof voice.start !== "string") return null;
  const { start, entrained_by: entrainedBy } = voice;
  if (entrainedBy !== null && !isCount(entrainedBy)) return null;
  const numbers = NUMBERS.map(([wire]) => voice[wire]);
  if (!numbers.every(isTime)) return null;
  const told = Object.fromEntries(NUMBERS.map(([, own], index) => [own, numbers[index]!]));
  return {
    start,
    entrainedBy,
    followed: listOf(voice.followed, isText),
    turns: listOf(voice.turns, isCount),
    cautions: listOf(voice.cautions, isText),
    ...(told as Record<(typeof NUMBERS)[number][1], number>),
  };
}

const NUMBERS = [
  ["speech_seconds", "speechS"],
  ["trust", "trust"],
  ["pitch_semitones", "pitchSemitones"],
  ["pitch_range", "pitchRange"],
  ["rate", "rate"],
  ["level_db", "levelDb"],
  ["warp", "warp"],
  ["spectrum_db", "spectrumDb"],
] as const;

function recordIn({ data }: SentEvent): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    if (isRecord(value)) return value;
  } catch {
    // Told below.
  }
  throw permanentError("sent an event that is no JSON object");
}

function listOf<T>(value: unknown, isOne: (each: unknown) => each is T): T[] {
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
