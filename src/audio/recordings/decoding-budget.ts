import { AudioFormatError } from "../audio-format-error.ts";
import { RecordingTooLongError } from "./recording.ts";

/** Accepted rates in Hz, both inclusive, and channels. Speech needs no more; less costs less. */
const MIN_RATE_HZ = 1_000;
export const MAX_RATE_HZ = 96_000;
export const MAX_CHANNELS = 8;

/** Work units per second of recording: two channels at the highest rate. A unit takes some nanoseconds. */
const UNITS_PER_S = 2 * MAX_RATE_HZ;
/** Cost of a packet, page or element of a container, whatever its content. */
const UNITS_PER_ITEM = 64;
/** Allowance for an encoder's start and last block. */
const MARGIN_S = 0.25;

/**
 * Limits the cost of decoding one recording, whatever its header claims. Work is charged before it is done: sound by
 * its seconds and samples, containers by their parts. (MP3 is charged after each 8 KiB, when its decoder knows their
 * content; Ogg pages are charged once and read three times.)
 */
export class DecodingBudget {
  readonly maxS: number;
  #leftS: number;
  #leftUnits: number;

  constructor(maxS: number) {
    this.maxS = maxS;
    this.#leftS = maxS + MARGIN_S;
    this.#leftUnits = Math.ceil(maxS) * UNITS_PER_S;
  }

  /** Throws {@link AudioFormatError} for rates and channels beyond speech, before anything is decoded. */
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

  /** Throws {@link RecordingTooLongError} if a recording declares to be too long. */
  checkLength(durationS: number): void {
    if (durationS > this.maxS) throw new RecordingTooLongError(this.maxS);
  }

  /**
   * Charges sound that is about to be decoded: samples per channel. Throws {@link RecordingTooLongError} or {@link
   * AudioFormatError}.
   */
  chargeSound(samples: number, channels: number, sampleRateHz: number): void {
    this.#leftS -= samples / sampleRateHz;
    if (this.#leftS < 0) throw new RecordingTooLongError(this.maxS);
    this.chargeWork(samples * channels);
  }

  /** Throws {@link AudioFormatError} if a recording declares more work than is left. */
  checkWork(units: number): void {
    if (units > this.#leftUnits) throw tooMuchWork();
  }

  /** Charges packets, pages or elements that are about to be read. Throws {@link AudioFormatError}. */
  chargeItems(count: number): void {
    this.chargeWork(count * UNITS_PER_ITEM);
  }

  /** Charges other work; a unit is about the cost of one sample. Throws {@link AudioFormatError}. */
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
