import { wavHeader } from "../encode-wav.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../format.ts";
import { joinBytes } from "../pcm.ts";
import { type Chapter, chapterComments, id3Chapters } from "./chapters.ts";
import { type Encoder, type Encoding, NOTHING } from "./encoder.ts";
import { flacEncoder, flacHead } from "./flac.ts";
import { MP3_STEP_SAMPLES, mp3Info, mp3Segment } from "./mp3.ts";
import { OPUS_PAGE_SAMPLES, oggOpusHead } from "./ogg-opus.ts";
import { openEncoder } from "./open-encoder.ts";

/** Kinds of files that can be made in segments. */
export const SEGMENTED = ["wav", "mp3", "opus", "flac"] as const satisfies readonly Encoding[];
export type SegmentedKind = (typeof SEGMENTED)[number];

/** What encodes a segment. After its last `push`, `end` gives what was held back of it. */
export type SegmentEncoder = Pick<Encoder, "push" | "end" | "free">;

/**
 * A file of 16-bit PCM at 24 kHz in segments, each with an encoder of its own: the bytes of a segment depend on its samples
 * and on where it begins, and on nothing else, so that a file can be gone on with behind any of them. `head`, the
 * segments in order and `tail` are the file. A segment has to end with 50 ms of silence: of that, an MP3 leaves the last
 * 46 ms out, and an Opus file 7.
 */
export interface SegmentedFile {
  /** A segment has a multiple of so many samples. */
  readonly stepSamples: number;
  /** What the file can tell the length of. */
  readonly maxSamples: number;
  /** What the file begins with while its length is unknown. */
  head(): Uint8Array;
  /** @param at samples of the segments before */
  segment(at: number): Promise<SegmentEncoder>;
  /** @param samples of all segments */
  tail(samples: number): Promise<Uint8Array>;
  /** What may stand in place of `head` once the file is whole: mostly, but not always, as long. @param bytes of the whole file as it is */
  finishedHead(samples: number, bytes: number, chapters: readonly Chapter[]): Uint8Array;
}

/** @param serial 32 bits, which name the stream in Ogg */
export function segmentedFile(kind: SegmentedKind, serial: number): SegmentedFile {
  switch (kind) {
    case "wav":
      return {
        stepSamples: 1,
        // Sizes have 32 bits: a day and 51 minutes.
        maxSamples: Math.floor((0xffff_ffff - 64) / 2),
        head: () => wavHeader(null, SAMPLE_RATE_HZ),
        segment: () => openEncoder("pcm"),
        tail: async () => NOTHING,
        finishedHead: (samples) => wavHeader(2 * samples, SAMPLE_RATE_HZ),
      };
    case "flac":
      return {
        stepSamples: FRAME_SAMPLES,
        maxSamples: Number.POSITIVE_INFINITY,
        head: () => flacHead(0),
        segment: async (at) => flacEncoder(null, at),
        tail: async () => NOTHING,
        finishedHead: (samples) => flacHead(samples),
      };
    case "opus":
      return {
        stepSamples: OPUS_PAGE_SAMPLES,
        maxSamples: Number.POSITIVE_INFINITY,
        head: () => oggOpusHead(serial),
        segment: async (at) => ({ ...(await openEncoder("opus", serial, at)), end: () => NOTHING }),
        tail: (samples) => endOf(openEncoder("opus", serial, samples)),
        finishedHead: (_samples, _bytes, chapters) => oggOpusHead(serial, chapterComments(chapters)),
      };
    case "mp3":
      return {
        stepSamples: MP3_STEP_SAMPLES,
        maxSamples: Number.POSITIVE_INFINITY,
        head: () => mp3Info(null),
        segment: async () => mp3Segment(await openEncoder("mp3")),
        tail: () => endOf(openEncoder("mp3")),
        finishedHead: (samples, bytes, chapters) => {
          const info = mp3Info({ samples, bytes });
          const isMarked = chapters.length > 0;
          return isMarked ? joinBytes([id3Chapters(chapters, samples / SAMPLE_RATE_HZ), info]) : info;
        },
      };
  }
}

/** What a file ends with that has no more samples. */
/** A sound of one segment as a whole file, whose length is told, and at whose end is silence. @param pcm 16-bit, 24 kHz, mono */
export async function fileOfOneSegment(kind: SegmentedKind, pcm: Int16Array): Promise<Uint8Array> {
  const form = segmentedFile(kind, 0);
  const { stepSamples } = form;
  const samples = new Int16Array(Math.ceil((pcm.length + SILENT_SAMPLES) / stepSamples) * stepSamples);
  samples.set(pcm);
  const segment = await form.segment(0);
  const parts = [form.head()];
  try {
    parts.push(segment.push(samples), segment.end());
  } finally {
    segment.free();
  }
  parts.push(await form.tail(samples.length));
  const file = joinBytes(parts);
  const head = form.finishedHead(samples.length, file.length, []);
  return joinBytes([head, file.subarray(form.head().length)]);
}

/** What a segment has to end with. */
const SILENT_SAMPLES = 0.05 * SAMPLE_RATE_HZ;

async function endOf(opening: Promise<Encoder>): Promise<Uint8Array> {
  const encoder = await opening;
  try {
    return encoder.end();
  } finally {
    encoder.free();
  }
}
