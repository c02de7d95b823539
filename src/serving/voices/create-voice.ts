import { setImmediate as letOthersRun } from "node:timers/promises";
import { newVoiceId, type VoiceRecord } from "../../accounts/store.ts";
import { openEncoder } from "../../audio/encode/open-encoder.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { fromPcm16, joinBytes, joinSamples, toPcm16 } from "../../audio/pcm.ts";
import { Resampler } from "../../audio/resample.ts";
import { fieldError, ServiceError } from "../../contract/errors.ts";
import { type NewVoice, SAMPLE_S } from "../../contract/voice-form.ts";
import { type AudioSource, clipSource } from "../../core/audio-source.ts";
import type { Clip } from "../../core/conversation.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { Caller, RequestReader } from "../prepare/request-reader.ts";
import type { Transcriptions } from "../transcribe/transcriptions.ts";
import type { CustomVoices } from "./custom-voices.ts";

/** How far a clip is followed, and why not further. */
export interface ClipJudgement {
  /** 0 to 1. */
  readonly trust: number;
  /** A few words each; `no voice` if nothing in it has a pitch. */
  readonly cautions: readonly string[];
}

export interface CreateVoiceOptions {
  /** Analyses a clip in slices. Rejects with the signal's reason. */
  readonly judge: (clip: Clip, signal: AbortSignal) => Promise<ClipJudgement>;
  /** Transcribes a clip; `null` if that fails. */
  readonly transcribe: (clip: Clip) => Promise<string | null>;
  /** Name of the recording in messages. */
  readonly field: string;
  /** Unix time, seconds. */
  readonly nowS?: () => number;
}

/** Voice that is ready to be stored. */
export interface NewVoiceRecord {
  readonly voice: VoiceRecord;
  /** FLAC, 24 kHz, mono, 16-bit. */
  readonly audio: Uint8Array;
}

/**
 * Makes a voice of a recording: analyses its first half minute, transcribes it unless its text is given, and
 * compresses it. Rejects with a 400 {@link ServiceError} if it is too short or has no speech, with the error of
 * reading it, and with the signal's reason.
 */
export async function createVoice(
  wanted: NewVoice,
  sound: AudioSource,
  keyId: string,
  { judge, transcribe, field, nowS = () => Date.now() / 1_000 }: CreateVoiceOptions,
  signal: AbortSignal,
): Promise<NewVoiceRecord> {
  const voiceId = newVoiceId();
  const { pcm, isCut } = await readBeginning(sound, field, signal);
  const clip = clipFromPcm(pcm, voiceId);
  const { trust, cautions } = await judge(clip, signal);
  if (cautions.includes("no voice"))
    throw fieldError(field, "contains no speech: send 5 to 12 s of one person, without music or noise");
  // The text of a recording that is cut is too long.
  const refText = (isCut ? null : wanted.refText) ?? (await transcribe(clip));
  const voice: VoiceRecord = {
    voiceId,
    keyId,
    name: wanted.name,
    description: wanted.description,
    refText: refText?.trim() === "" ? null : refText,
    consent: wanted.consent,
    createdTsS: nowS(),
    durationS: clip.durationS,
    trust,
    cautions: isCut ? [...cautions, "long"] : cautions,
  };
  return { voice, audio: await compressed(pcm, signal) };
}

/** Returns a clip for models. It is used again, so its samples are never given away. */
export function clipFromPcm(pcm: Int16Array, digest: string): Clip {
  return voiceClip(fromPcm16(pcm), SAMPLE_RATE_HZ, digest);
}

/** Reads a stored clip. Rejects with the error of reading it. */
export async function readStoredClip(
  sound: AudioSource,
  voiceId: string,
  signal: AbortSignal,
): Promise<Clip> {
  const read = await sound.read(SAMPLE_S.max * sound.sampleRateHz, signal);
  // Copied to a buffer of its own length, since the read one may be larger.
  return voiceClip(read.slice(), sound.sampleRateHz, voiceId);
}

function voiceClip(samples: Float32Array, sampleRateHz: number, digest: string): Clip {
  return { samples, sampleRateHz, durationS: samples.length / sampleRateHz, digest: `voice:${digest}` };
}

/** Reads the first half minute of a sound, at 24 kHz. Rejects with a 400 {@link ServiceError} if it is too short. */
export async function readBeginning(
  sound: AudioSource,
  field: string,
  signal: AbortSignal,
): Promise<{ readonly pcm: Int16Array; readonly isCut: boolean }> {
  const { sampleRateHz } = sound;
  const maxSamples = SAMPLE_S.max * sampleRateHz;
  const resampler = sampleRateHz === SAMPLE_RATE_HZ ? null : new Resampler(sampleRateHz, SAMPLE_RATE_HZ);
  const pieces: Float32Array[] = [];
  let count = 0;
  while (count < maxSamples) {
    const wanted = Math.min(sampleRateHz, maxSamples - count);
    const piece = await sound.read(wanted, signal);
    count += piece.length;
    pieces.push(resampler === null ? piece.slice() : resampler.push(piece));
    if (piece.length < wanted) break;
    await letOthersRun();
  }
  const isCut = count === maxSamples && (await sound.read(1, signal)).length > 0;
  if (resampler !== null) pieces.push(resampler.end());
  if (count < SAMPLE_S.min * sampleRateHz) {
    const s = (count / sampleRateHz).toFixed(1);
    throw fieldError(field, `has ${s} s of sound: send 5 to 12 s of one person speaking`);
  }
  return { pcm: toPcm16(joinSamples(pieces)), isCut };
}

async function compressed(pcm: Int16Array, signal: AbortSignal): Promise<Uint8Array> {
  const encoder = await openEncoder("flac");
  const pieces: Uint8Array[] = [encoder.head()];
  for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) {
    pieces.push(encoder.push(pcm.subarray(at, at + FRAME_SAMPLES)));
    await letOthersRun();
    signal.throwIfAborted();
  }
  pieces.push(encoder.end());
  const file = joinBytes(pieces);
  file.set(encoder.finishedHead());
  encoder.free();
  return file;
}

export interface VoiceCreatorDeps {
  readonly voices: CustomVoices;
  readonly requestReader: RequestReader;
  readonly transcriptions: Transcriptions;
  /** Bytes of decoded audio. */
  readonly audio: KeyedSemaphore;
  readonly judge: (clip: Clip, signal: AbortSignal) => Promise<ClipJudgement>;
}

/** Request to make a voice of a recording. */
export interface NewVoiceRequest {
  readonly wanted: NewVoice;
  /** Taken over: its buffer is gone afterwards. */
  readonly file: Uint8Array<ArrayBuffer>;
  /** Name of the recording in messages. */
  readonly field: string;
}

/** As floats twice, and as 16-bit samples, raw and compressed. */
const BYTES_PER_SAMPLE = 12;

/** Makes and stores custom voices of uploaded recordings. */
export class VoiceCreator {
  readonly #deps: VoiceCreatorDeps;

  constructor(deps: VoiceCreatorDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves once the voice is stored. Rejects with a 400 or 502 {@link ServiceError} that names the field, or the
   * caller's abort reason; then nothing is stored.
   */
  async create(
    { wanted, file, field }: NewVoiceRequest,
    caller: Caller,
  ): Promise<{ readonly voice: VoiceRecord }> {
    const { voices, requestReader, audio, judge } = this.#deps;
    await voices.admit(caller.keyId, wanted.name);
    const room = await audio.enter(
      caller.keyId,
      SAMPLE_S.max * SAMPLE_RATE_HZ * BYTES_PER_SAMPLE,
      caller.signal,
    );
    caller.keep(room);
    const sound = await requestReader.openRecording(file, caller, null, field);
    const options = { judge, field, transcribe: (clip: Clip) => this.#transcribe(clip, caller) };
    const made = await createVoice(wanted, sound, caller.keyId, options, caller.signal);
    await voices.add(made.voice, made.audio);
    return made;
  }

  /** Transcribes a clip, metered to the key; the voice is made without text if that fails. */
  async #transcribe(clip: Clip, caller: Caller): Promise<string | null> {
    const { transcriptions } = this.#deps;
    if (transcriptions.refusal("transcribe") !== null) return null;
    const asked = { sound: clipSource(clip), language: null, prompt: null, wantsWords: false };
    try {
      return (await transcriptions.transcribe(asked, caller)).transcript.text;
    } catch (error) {
      caller.signal.throwIfAborted();
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }
}
