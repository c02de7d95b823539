import { AudioFormatError } from "../audio-format-error.ts";
import { RecordingTooLongError } from "./recording.ts";

/** What is read: rates in Hz, both included, and channels. Speech has no more; less costs less. */
const MIN_RATE_HZ = 1_000;
export const MAX_RATE_HZ = 96_000;
export const MAX_CHANNELS = 8;

/** Work for each second that a recording may have: two channels at the highest rate. One unit takes some nanoseconds. */
const UNITS_PER_S = 2 * MAX_RATE_HZ;
/** What one packet, page or element of a container costs, whatever is in it. */
const UNITS_PER_ITEM = 64;
/** An encoder's start and its last block come on top of the sound itself. */
const MARGIN_S = 0.25;

/**
 * What decoding one recording may cost at most, whatever its header claims. Work is charged before it is done, so that
 * nothing costs more than it is worth: sound by its seconds and by its samples, containers by their parts. (MP3 is charged
 * after each 8 KiB, which is when its decoder says what they hold; pages of Ogg are charged once and gone through three times.)
 */
export class DecodingBudget {
  /** Seconds that the recording may have. */
  readonly maxS: number;
  #leftS: number;
  #leftUnits: number;

  constructor(maxS: number) {
    this.maxS = maxS;
    this.#leftS = maxS + MARGIN_S;
    this.#leftUnits = Math.ceil(maxS) * UNITS_PER_S;
  }

  /** Throws {@link AudioFormatError} for what is beyond speech, before anything of it is decoded. */
  checkFormat(sampleRateHz: number, channels: number): void {
    if (sampleRateHz < MIN_RATE_HZ || sampleRateHz > MAX_RATE_HZ) {
      throw new AudioFormatError(
        `its sample rate is ${sampleRateHz} Hz, and ${MIN_RATE_HZ} to ${MAX_RATE_HZ} Hz can be read`,
        "send it at another rate, such as 16000 Hz",
      );
    }
    if (channels > MAX_CHANNELS) {
      throw new AudioFormatError(
        `it has ${channels} channels, and at most ${MAX_CHANNELS} can be read`,
        "send it with one or two",
      );
    }
  }

  /** Throws {@link RecordingTooLongError} where a recording says of itself that it is longer than may be. */
  checkLength(durationS: number): void {
    if (durationS > this.maxS) throw new RecordingTooLongError(this.maxS);
  }

  /**
   * Charges sound that is about to be decoded: so many samples of each channel. Throws {@link RecordingTooLongError} or
   * {@link AudioFormatError}.
   */
  chargeSound(samples: number, channels: number, sampleRateHz: number): void {
    this.#leftS -= samples / sampleRateHz;
    if (this.#leftS < 0) throw new RecordingTooLongError(this.maxS);
    this.chargeWork(samples * channels);
  }

  /** Throws {@link AudioFormatError} where what a recording says of itself is more than is left, before any of it is done. */
  checkWork(units: number): void {
    if (units > this.#leftUnits) throw tooMuchWork();
  }

  /** Charges packets, pages or elements that are about to be read. Throws {@link AudioFormatError}. */
  chargeItems(count: number): void {
    this.chargeWork(count * UNITS_PER_ITEM);
  }

  /** Charges other work, a unit for about what a sample of one channel takes. Throws {@link AudioFormatError}. */
  chargeWork(units: number): void {
    this.#leftUnits -= units;
    if (this.#leftUnits < 0) throw tooMuchWork();
  }
}

function tooMuchWork(): AudioFormatError {
  return new AudioFormatError(
    "it takes more work to decode than any recording of speech",
    "send it with one channel, at a lower rate, or as WAV",
  );
}
