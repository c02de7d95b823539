import { workerData } from "node:worker_threads";
import { type ErrorStatus, ServiceError } from "../../contract/errors.ts";
import { readClientEvent } from "../../contract/realtime/client-events.ts";
import { findModel, type PublicModel } from "../../models/public-models.ts";
import { answerCalls } from "../../workers/calls/answer-calls.ts";
import { parseBody, type RequestKind } from "./parse-body.ts";
import type { ResolvedRequest } from "./resolve-request.ts";

/** Failure as sent across threads: the parts of a refusal, or the error's text. */
export type ParseFailure =
  | { readonly status: ErrorStatus; readonly message: string; readonly param: string | null }
  | { readonly failed: string };

const models = workerData as readonly PublicModel[];

answerCalls(
  {
    prepare: (body: Uint8Array, purpose: RequestKind, voice: string | null) =>
      parseBody(purpose, body, (model) => findModel(models, model), voice),
    readEvent: (message: Uint8Array) => readClientEvent(message),
  },
  (error): ParseFailure => {
    if (error instanceof ServiceError) {
      const { status, message, param } = error;
      return { status, message, param };
    }
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  },
  (answer) => samplesOf(answer as Partial<ResolvedRequest>),
);

function samplesOf({ conversation }: Partial<ResolvedRequest>): ArrayBuffer[] {
  return (conversation?.history ?? []).flatMap(({ audio }) =>
    audio === null ? [] : [audio.samples.buffer as ArrayBuffer],
  );
}
