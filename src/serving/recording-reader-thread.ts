import { createHash } from "node:crypto";
import { AudioFormatError } from "../audio/audio-format-error.ts";
import { decodeRecording } from "../audio/recordings/decode-recording.ts";
import { RecordingTooLongError } from "../audio/recordings/recording.ts";
import type { ErrorStatus } from "../contract/errors.ts";
import type { Clip } from "../model/conversation.ts";
import { answerCalls } from "../threads/answer-calls.ts";

/** What crosses of a failure: a refusal as its parts, anything else as what it said. */
export type ReadingFailure =
  | { readonly status: ErrorStatus; readonly message: string }
  | { readonly failed: string };

answerCalls(
  {
    async read(bytes: Uint8Array, mostS: number): Promise<Clip> {
      const digest = createHash("sha256").update(bytes).digest("base64");
      return { ...(await decodeRecording(bytes, mostS)), digest, isGivenAway: true };
    },
  },
  (error): ReadingFailure => {
    if (error instanceof AudioFormatError) return { status: 400, message: `file: ${error.message}` };
    if (error instanceof RecordingTooLongError) {
      const message = `file is longer than ${error.mostS} s, the most that is heard in one request: send it in pieces`;
      return { status: 400, message };
    }
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  },
  (clip) => [(clip as Clip).samples.buffer as ArrayBuffer],
);
