import type { FastifyReply, FastifyRequest } from "fastify";
import type { Encoding } from "../../audio/encode/encoder.ts";
import type { Marks } from "../../contract/spoken.ts";
import type { ReadRequest } from "../../serving/prepare/request-reader.ts";
import type { SpokenPiece } from "../../serving/reply/reply-chunk.ts";
import { NO_OUTCOME, type Outcome } from "../../serving/reply/speech-service.ts";
import type { HttpDeps } from "./deps.ts";
import { type Chunk, type PacedForm, type PacedResponse, sendPaced } from "./paced-response.ts";

/** How a reply is written while it is being spoken. */
export interface StreamForm extends PacedForm {
  readonly encoding: Encoding;
  /** Whether whoever asks for it plays it as it comes; others may be waiting for all of it. */
  readonly isPlayed: boolean;
  /** What goes before the first frame, the reply's bytes not among it; may be empty. */
  readonly opening: Chunk;
  frame(bytes: Uint8Array, index: number, marks: Marks): Chunk;
  closing(outcome: Outcome): Chunk;
}

type Speech = AsyncGenerator<SpokenPiece, Outcome, void>;
type Step = IteratorResult<SpokenPiece, Outcome>;

/** Answers with frames as they are spoken, at the pace of the client. */
export async function streamSpeech(
  deps: HttpDeps,
  { prepared, audio }: ReadRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  form: StreamForm,
): Promise<void> {
  const speech = deps.service.converse(prepared, {
    ...request.tracked.caller,
    encoding: form.encoding,
    takesAudioAsItComes: true,
    isPlayed: form.isPlayed && !keepsItsPace(request),
    onHeard: () => audio?.release(),
    onEnded: (reason) => request.tracked.cut(reason),
  });
  const first = speech.next();
  await sendPaced(deps, request, reply, form, first, async (response) => {
    try {
      await pump(speech, first, response, form);
    } catch (error) {
      await speech.return(NO_OUTCOME).catch((late: unknown) => request.log.error({ err: late }));
      throw error;
    }
  });
}

/** Whether the client says that what it takes is for later, or that it holds itself back. */
function keepsItsPace({ headers }: FastifyRequest): boolean {
  return headers["x-antiphon-pace"] === "own";
}

async function pump(
  speech: Speech,
  first: Promise<Step>,
  response: PacedResponse,
  form: StreamForm,
): Promise<void> {
  await response.write(form.opening);
  let step = await first;
  for (let index = 0; !step.done; index++) {
    const { bytes, marks } = step.value;
    const room = response.write(form.frame(bytes, index, marks));
    if (room !== null) await room;
    step = await speech.next();
  }
  response.end(form.closing(step.value));
}
