import type { VoiceRecord } from "../../accounts/voice-store.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { ServiceError } from "../../contract/errors.ts";
import { type NewVoice, SAMPLE_S } from "../../contract/voice-form.ts";
import type { Clip } from "../../core/conversation.ts";
import { clipSound } from "../../core/sound.ts";
import type { KeyedSemaphore } from "../../limits/keyed-semaphore.ts";
import type { Caller, RequestReader } from "../prepare/request-reader.ts";
import type { Transcriptions } from "../transcribe/transcriptions.ts";
import type { OwnVoices } from "./own-voices.ts";
import { type ClipJudgement, makeVoice } from "./voice-clip.ts";

export interface NewVoicesDeps {
  readonly voices: OwnVoices;
  readonly requestReader: RequestReader;
  readonly transcriptions: Transcriptions;
  /** Bytes of decoded audio. */
  readonly audio: KeyedSemaphore;
  readonly judge: (clip: Clip, signal: AbortSignal) => Promise<ClipJudgement>;
}

/** A recording that is to be a voice. */
export interface VoiceRequest {
  readonly wanted: NewVoice;
  /** Its buffer is gone afterwards. */
  readonly file: Uint8Array<ArrayBuffer>;
  /** What messages call the recording. */
  readonly field: string;
}

/** As floats twice over, and as 16-bit samples, raw and compressed. */
const BYTES_PER_SAMPLE = 12;

/** Makes voices of recordings that are sent: each is judged, transcribed where its words are not known, and kept. */
export class NewVoices {
  readonly #deps: NewVoicesDeps;

  constructor(deps: NewVoicesDeps) {
    this.#deps = deps;
  }

  /**
   * A voice of a key's own, once it is kept. Throws a 400 or 502 {@link ServiceError} that names the field, or the caller's
   * abort reason; then nothing is kept.
   */
  async make(
    { wanted, file, field }: VoiceRequest,
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
    const making = { judge, field, hear: (clip: Clip) => this.#hear(clip, caller) };
    const made = await makeVoice(wanted, sound, caller.keyId, making, caller.signal);
    await voices.add(made.voice, made.audio);
    return made;
  }

  /** What is said in a clip, as a transcription of the key's; a voice is made without it where that fails. */
  async #hear(clip: Clip, caller: Caller): Promise<string | null> {
    const { transcriptions } = this.#deps;
    if (transcriptions.refusal("transcribe") !== null) return null;
    const asked = { sound: clipSound(clip), language: null, prompt: null, wantsWords: false };
    try {
      return (await transcriptions.transcribe(asked, caller)).transcript.text;
    } catch (error) {
      caller.signal.throwIfAborted();
      if (error instanceof ServiceError) return null;
      throw error;
    }
  }
}
