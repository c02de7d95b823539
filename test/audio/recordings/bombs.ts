import { type FlacHead, flacFrame, flacFrameHead, flacHead } from "./flac-writer.ts";
import { goldenRecording } from "./golden-recordings.ts";
import { OPUS_HEAD, oggPages, packetsOf } from "./ogg-writer.ts";
import { block, element, track, webm } from "./webm-writer.ts";

/** The longest recording that is taken, in seconds, and the largest, in bytes. */
const MAX_S = 1_500;
const LARGEST_BYTES = 25 * 2 ** 20;

/** Small files that demand much memory, time or both. */
export const BOMBS = {
  /** 177 kB that say 6.7 minutes, which are 3.4 billion samples. */
  "FLAC of 8 channels at 1,048,575 Hz": (): Uint8Array =>
    evenFlac({ rateHz: 1_048_575, channels: 8, bits: 8, samples: 6_400 * MAX_BLOCK }),
  /** 0.4 MB that say 25 minutes, which are 1.2 billion samples. */
  "FLAC of 8 channels at 96 kHz": (): Uint8Array =>
    evenFlac({ rateHz: 96_000, channels: 8, bits: 8, samples: MAX_S * 96_000 }),
  /** 7 kB that say 25 minutes, which are 144 MB once they are decoded. */
  "FLAC of constant frames": (): Uint8Array =>
    evenFlac({ rateHz: 24_000, channels: 1, bits: 8, samples: MAX_S * 24_000 }),
  /** 2.3 MB of packets that last a day, on pages whose granule position is 0. */
  "Ogg that ends at 0": (): Uint8Array => oggThatEndsAtZero(),
  /** 26 MB of packets that are empty. */
  "WebM of empty packets": (): Uint8Array => webmOfEmptyPackets(),
} as const;

export type BombName = keyof typeof BOMBS;

/** The most expensive accepted files: 25 minutes each. */
export const LONG_FILES = {
  "FLAC of one value": BOMBS["FLAC of constant frames"],
  "Ogg of packets of one byte": (): Uint8Array => {
    const packets = [OPUS_HEAD, OPUS_TAGS, ...Array<Uint8Array>(SHORTEST_COUNT).fill(SHORTEST)];
    const ticksAt = (_before: number, end: number) => Math.max(0, end - 2) * SHORTEST_TICKS;
    return Buffer.concat(oggPages(packets, MAX_PIECES, 7, ticksAt));
  },
  "WebM of packets of one byte": (): Uint8Array => {
    const blocks = Array<Buffer>(SHORTEST_COUNT / MAX_LACED).fill(
      element([0xa3], block(Array<Uint8Array>(MAX_LACED).fill(SHORTEST), XIPH)),
    );
    return webm([AUDIO_TRACK], [Buffer.concat(blocks)], false);
  },
} as const;

/** The maximum block size of a header. */
const MAX_BLOCK = 65_535;
/** A packet of 2.5 ms with its first byte only. */
const SHORTEST = Uint8Array.of(16 << 3);
/** At 48 kHz, as Ogg counts them. */
const SHORTEST_TICKS = 120;
const SHORTEST_COUNT = (MAX_S * 48_000) / SHORTEST_TICKS;
/** A packet of six frames of 20 ms, none of which has a byte. */
const LONGEST = Uint8Array.of((31 << 3) | 3, 6);
const OPUS_TAGS = Uint8Array.of(...Buffer.from("OpusTags"), 0, 0, 0, 0, 0, 0, 0, 0);
/** Lacing values per Ogg page. */
const MAX_PIECES = 255;
/** Packets of a block of WebM, a divisor of all there are of the shortest in 25 minutes. */
const MAX_LACED = 250;
const XIPH = 1;
const AUDIO_TRACK = track(2, 2, "A_OPUS");

/** FLAC of one constant value. */
function evenFlac(head: FlacHead): Uint8Array {
  const { channels, bits, samples } = head;
  // A constant subframe: its kind, and the value.
  const subframes = Buffer.alloc(channels * (1 + bits / 8));
  const frames: Buffer[] = [flacHead(head)];
  for (let at = 0; at < samples; at += MAX_BLOCK) {
    const length = Math.min(MAX_BLOCK, samples - at);
    frames.push(flacFrame(flacFrameHead(head, frames.length - 1, length, channels - 1), subframes));
  }
  return Buffer.concat(frames);
}

function oggThatEndsAtZero(): Uint8Array {
  // Concealment of a lost packet takes longer than silence.
  const [, , ...sound] = packetsOf(goldenRecording("mono.ogg"));
  const packets = [OPUS_HEAD, OPUS_TAGS, ...sound.slice(0, 20), ...Array<Uint8Array>(738_000).fill(LONGEST)];
  return Buffer.concat(oggPages(packets, MAX_PIECES, 7, () => 0));
}

function webmOfEmptyPackets(): Uint8Array {
  const own = element([0xa3], block(Array<Uint8Array>(256).fill(new Uint8Array(0)), XIPH));
  const count = Math.floor((LARGEST_BYTES - 1_000) / own.length);
  return webm([AUDIO_TRACK], [Buffer.concat(Array<Buffer>(count).fill(own))], false);
}
