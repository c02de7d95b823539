import { parentPort, workerData } from "node:worker_threads";
import { findModel, type PublicModel } from "../catalogue/public-models.ts";
import { type ErrorStatus, ServiceError } from "../contract/errors.ts";
import type { Turn } from "../model/conversation.ts";
import type { Prepared } from "./prepare.ts";
import { type Purpose, prepareBody } from "./prepare-body.ts";

/** A body to prepare, and what it is meant for. */
export interface Order {
  readonly id: number;
  readonly purpose: Purpose;
  readonly body: Uint8Array;
}

/** A request made ready, or why it cannot be. */
export type Answer = { readonly id: number } & (
  | { readonly prepared: Prepared }
  | { readonly refused: { readonly status: ErrorStatus; readonly message: string } }
  | { readonly failed: string }
);

const models = workerData as readonly PublicModel[];

parentPort?.on("message", ({ id, purpose, body }: Order) => {
  try {
    const prepared = prepareBody(purpose, body, (model) => findModel(models, model));
    const { history, open } = prepared.conversation;
    answer({ id, prepared: { ...prepared, conversation: { history: history.map(shareAudio), open } } });
  } catch (error) {
    if (error instanceof ServiceError) {
      answer({ id, refused: { status: error.status, message: error.message } });
    } else {
      answer({ id, failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
});

function answer(message: Answer): void {
  parentPort?.postMessage(message);
}

/** Samples in shared memory go from thread to thread without being copied again. */
function shareAudio(turn: Turn): Turn {
  if (turn.audio === null) return turn;
  const { samples } = turn.audio;
  const shared = new Float32Array(new SharedArrayBuffer(samples.byteLength));
  shared.set(samples);
  return { ...turn, audio: { ...turn.audio, samples: shared } };
}
