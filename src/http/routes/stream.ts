import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { EndEvent, MetaEvent } from "../../contract/events.ts";
import type { Prepared } from "../../serving/prepare.ts";
import type { Outcome } from "../../serving/service.ts";
import { bodyOf } from "../body.ts";
import { keyOf } from "../caller.ts";
import { watchClient } from "../client-gone.ts";
import type { HttpDeps } from "../deps.ts";
import { asServiceError } from "../errors.ts";
import { ClientGoneError, formatAudioEvent, formatEvent, SseStream } from "../sse.ts";

type Speech = AsyncGenerator<Int16Array, Outcome, void>;
type Step = IteratorResult<Int16Array, Outcome>;

/** `POST /v1/converse/stream`: the same reply, a server-sent event a frame. */
export function streamRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/converse/stream", { config: { access: "token" } }, async (request, reply) => {
    const prepared = await deps.preparer.prepare("converse", bodyOf(request));
    const speech = deps.service.converse(prepared, {
      keyId: keyOf(request).keyId,
      signal: watchClient(reply).signal,
      takesAudioAsItComes: true,
    });
    const first = speech.next();
    // What fails before the first frame is an ordinary error; but a model that loads for long gets its status sent.
    await Promise.race([first, patience(first, deps.options.streamPatienceMs)]);
    reply.hijack();
    await stream(speech, first, prepared, request, reply, deps);
  });
}

async function stream(
  speech: Speech,
  first: Promise<Step>,
  prepared: Prepared,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: HttpDeps,
): Promise<void> {
  const sse = new SseStream(reply.raw, headersOf(reply), deps.options);
  try {
    await sse.write(formatEvent({ event: "meta", data: metaOf(prepared, request) }));
    let step = await first;
    for (let index = 0; !step.done; index++) {
      await sse.write(formatAudioEvent(step.value, index));
      step = await speech.next();
    }
    sse.end(formatEvent({ event: "end", data: endOf(prepared, step.value) }));
  } catch (error) {
    await speech.return(NO_OUTCOME).catch((late: unknown) => request.log.error({ err: late }));
    if (error instanceof ClientGoneError) {
      sse.abandon();
      return;
    }
    const { type, message, status } = asServiceError(error);
    if (status === 500) request.log.error({ err: error }, "unexpected failure in a stream");
    sse.end(formatEvent({ event: "error", data: { type, message, request_id: request.id } }));
  }
}

const NO_OUTCOME: Outcome = {
  text: "",
  audioS: 0,
  usage: { input_chars: 0, input_audio_seconds: 0, output_audio_seconds: 0 },
  meta: {},
};

function metaOf(prepared: Prepared, request: FastifyRequest): MetaEvent {
  return {
    request_id: request.id,
    model: prepared.model.card.id,
    speaker: prepared.conversation.open.speaker,
    sample_rate: SAMPLE_RATE_HZ,
    format: "pcm_s16le",
    frame_samples: FRAME_SAMPLES,
  };
}

function endOf(prepared: Prepared, outcome: Outcome): EndEvent {
  const { text, audioS, usage, meta } = outcome;
  return { text, speaker: prepared.conversation.open.speaker, audio_seconds: audioS, usage, meta };
}

function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, `${value}`]));
}

/** Resolves after `ms`, or earlier when `first` settles; leaves no timer behind. */
function patience(first: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    first.then(settle, settle);
  });
}
