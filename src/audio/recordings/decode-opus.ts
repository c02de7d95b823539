import { OpusDecoder } from "opus-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import type { Recording } from "./recording.ts";
import { SampleSink } from "./sample-sink.ts";

/** The head of an Opus stream (RFC 7845, 5.1), which Ogg and WebM both carry. */
export interface OpusHead {
  readonly channels: number;
  /** Samples at 48 kHz that come before the beginning. */
  readonly preSkip: number;
  readonly streams: number;
  readonly coupledStreams: number;
  readonly mapping: readonly number[];
}

/** Reads an `OpusHead` packet. Throws {@link AudioFormatError} for what is none, or has channels in another order. */
export function readOpusHead(packet: Uint8Array): OpusHead {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (packet.length < 19 || Buffer.from(packet.subarray(0, 8)).toString("latin1") !== "OpusHead") {
    throw new AudioFormatError("its Opus stream has no head");
  }
  const channels = packet[9]!;
  const preSkip = view.getUint16(10, true);
  const family = packet[18]!;
  if (family === 0 && (channels === 1 || channels === 2)) {
    return {
      channels,
      preSkip,
      streams: 1,
      coupledStreams: channels - 1,
      mapping: channels === 1 ? [0] : [0, 1],
    };
  }
  const mapping = [...packet.subarray(21, 21 + channels)];
  const [streams = 0, coupledStreams = 0] = packet.subarray(19, 21);
  const isWhole = family === 1 && channels >= 1 && channels <= 8 && mapping.length === channels;
  const isSound = coupledStreams <= streams && streams >= 1 && streams + coupledStreams <= 255;
  if (!isWhole || !isSound || mapping.some((index) => index !== 255 && index >= streams + coupledStreams)) {
    throw new AudioFormatError("its Opus stream has channels that cannot be told apart");
  }
  return { channels, preSkip, streams, coupledStreams, mapping };
}

/** Opus at this rate is decoded without a detour through 48 kHz. */
const RATE_HZ = 16_000;
const PER_SAMPLE = 48_000 / RATE_HZ;

/**
 * Decodes the packets of an Opus stream, as many as `mostS` takes. Throws as `decodeRecording` does.
 *
 * @param samples48 where it ends, in samples at 48 kHz with those that come before the beginning; `null`: after the last
 * packet
 */
export async function decodeOpus(
  head: OpusHead,
  packets: readonly Uint8Array[],
  samples48: number | null,
  mostS: number,
): Promise<Recording> {
  const { channels, streams, coupledStreams, mapping } = head;
  const decoder = new OpusDecoder({
    sampleRate: RATE_HZ,
    channels,
    streamCount: streams,
    coupledStreamCount: coupledStreams,
    channelMappingTable: [...mapping],
    preSkip: 0,
  });
  await decoder.ready;
  try {
    const sink = new SampleSink(RATE_HZ, mostS);
    let toSkip = Math.round(head.preSkip / PER_SAMPLE);
    let left = samples48 === null ? Number.POSITIVE_INFINITY : Math.round(samples48 / PER_SAMPLE);
    for (const [index, packet] of packets.entries()) {
      const { channelData, samplesDecoded } = decoded(decoder, packet, index);
      const to = Math.min(samplesDecoded, left);
      const from = Math.min(toSkip, to);
      sink.add(channelData, from, to);
      toSkip -= from;
      left -= to;
    }
    return sink.finish();
  } finally {
    decoder.free();
  }
}

function decoded(decoder: OpusDecoder<typeof RATE_HZ>, packet: Uint8Array, index: number) {
  try {
    const frame = decoder.decodeFrame(packet);
    if (frame.errors.length === 0) return frame;
  } catch (error) {
    // What is larger than any packet of Opus does not fit into the decoder's memory.
    if (!(error instanceof RangeError)) throw error;
  }
  throw new AudioFormatError(`packet ${index} of its Opus stream is damaged`);
}
