import { decodeRecording } from "../../src/audio/recordings/decode-recording.ts";

/** The longest recording that is taken, in seconds. */
const MOST_S = 1_500;

/** Decodes a recording as the server does, all of it, and says how long it is. Throws what the decoder throws. */
export async function decoded(bytes: Uint8Array): Promise<number> {
  const { durationS } = await decodeRecording(bytes, MOST_S);
  return durationS;
}
