import { wavHeader } from "../encode-wav.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../format.ts";
import { joinBytes } from "../pcm.ts";
import { type BookTag, type Chapter, chapterComments, id3Tag, tagComments } from "./chapters.ts";
import { type Encoder, type Encoding, NOTHING } from "./encoder.ts";
import { flacEncoder, flacHead } from "./flac.ts";
import { MP3_STEP_SAMPLES, mp3Info, mp3Segment } from "./mp3.ts";
import { OPUS_PAGE_SAMPLES, oggOpusHead } from "./ogg-opus.ts";
import { openEncoder } from "./open-encoder.ts";

/** Formats that can be encoded in segments. */
export const SEGMENTED = ["wav", "mp3", "opus", "flac"] as const satisfies readonly Encoding[];
export type SegmentedKind = (typeof SEGMENTED)[number];

/** Encodes a segment. `end` returns the buffered rest. */
export type SegmentEncoder = Pick<Encoder, "push" | "end" | "free">;

/**
 * File of 16-bit PCM at 24 kHz in segments, each with an encoder of its own. A segment's bytes depend only on its
 * samples and position, so that a file can be resumed after any segment. `head`, the segments in order and `tail` are
 * the file. A segment must end with 50 ms of silence: an MP3 drops its last 46 ms, an Opus file 7.
 */
export interface SegmentedFile {
  /** A segment's length is a multiple of this. */
  readonly stepSamples: number;
  /** Longest length that the file can declare. */
  readonly maxSamples: number;
  /** Returns the file's beginning while its length is unknown. */
  head(): Uint8Array;
  /** @param at samples of the segments before */
  segment(at: number): Promise<SegmentEncoder>;
  /** @param samples of all segments */
  tail(samples: number): Promise<Uint8Array>;
  /**
   * Returns a replacement for `head` in the finished file, usually of the same size. @param bytes size of the whole
   * file; a WAV has no chapters and tags, and a FLAC file no chapters
   */
  finishedHead(
    samples: number,
    bytes: number,
    chapters: readonly Chapter[],
    tags: readonly BookTag[],
  ): Uint8Array;
}

/** @param serial 32 bits that name the stream in Ogg */
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
        finishedHead: (samples, _bytes, _chapters, tags) => flacHead(samples, tagComments(tags)),
      };
    case "opus":
      return {
        stepSamples: OPUS_PAGE_SAMPLES,
        maxSamples: Number.POSITIVE_INFINITY,
        head: () => oggOpusHead(serial),
        segment: async (at) => ({ ...(await openEncoder("opus", serial, at)), end: () => NOTHING }),
        tail: (samples) => endOf(openEncoder("opus", serial, samples)),
        finishedHead: (_samples, _bytes, chapters, tags) =>
          oggOpusHead(serial, [...tagComments(tags), ...chapterComments(chapters)]),
      };
    case "mp3":
      return {
        stepSamples: MP3_STEP_SAMPLES,
        maxSamples: Number.POSITIVE_INFINITY,
        head: () => mp3Info(null),
        segment: async () => mp3Segment(await openEncoder("mp3")),
        tail: () => endOf(openEncoder("mp3")),
        finishedHead: (samples, bytes, chapters, tags) => {
          const info = mp3Info({ samples, bytes });
          const isMarked = chapters.length + tags.length > 0;
          return isMarked ? joinBytes([id3Tag(chapters, samples / SAMPLE_RATE_HZ, tags), info]) : info;
        },
      };
  }
}

/**
 * Encodes a sound as a whole file of one segment that states its length and ends in silence. @param pcm 16-bit, 24
 * kHz, mono
 */
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
  const head = form.finishedHead(samples.length, file.length, [], []);
  return joinBytes([head, file.subarray(form.head().length)]);
}

/** Silence that ends a segment. */
const SILENT_SAMPLES = 0.05 * SAMPLE_RATE_HZ;

async function endOf(opening: Promise<Encoder>): Promise<Uint8Array> {
  const encoder = await opening;
  try {
    return encoder.end();
  } finally {
    encoder.free();
  }
}
