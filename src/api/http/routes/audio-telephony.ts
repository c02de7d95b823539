import type { FastifyInstance } from "fastify";
import { type Encoding, PCM_RATES, pcmAt } from "../../../audio/encode/encoder.ts";
import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { cautionsTold } from "../../../serving/prepare/read-markup.ts";
import { bodyOf } from "../body.ts";
import type { HttpDeps } from "../deps.ts";
import { bytesForm } from "../speech-forms.ts";
import { streamSpeech } from "../stream-speech.ts";

/** Room for the longest text with every character escaped, and for what is told of the call beside it. */
const BODY_LIMIT_BYTES = 4 * 1024 * 1024;

/** Rates in Hz that may be asked for. */
export const TELEPHONY_RATES: readonly number[] = [...PCM_RATES, SAMPLE_RATE_HZ].sort((a, b) => a - b);

/**
 * `POST /v1/audio/telephony`: a voice for Vapi, which takes bare samples at the rate that it names, and for jambonz,
 * which takes an MP3, or bare samples at the query's `rate`. The query's `voice` comes before that of the body.
 */
export function audioTelephonyRoute(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(BODY_LIMIT_BYTES, deps.options.bodyLimitBytes);
  app.post<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/v1/audio/telephony",
    { bodyLimit, config: { access: "token" } },
    async (request, reply) => {
      const voice = one("voice", request.query.voice);
      const rate = one("rate", request.query.rate);
      const rateHz = rate === null ? null : Number(rate);
      if (rateHz !== null) samplesAt(rateHz, "rate");
      const asked = await deps.requestReader.prepare(
        "telephony",
        bodyOf(request),
        request.tracked.caller,
        voice,
      );
      const [encoding, type] = formOf(asked.prepared.rateHz, rateHz);
      const told = cautionsTold(asked.prepared);
      const headers = {
        "Content-Type": type,
        ...(told === null ? {} : { "X-Antiphon-Cautions": told }),
      };
      // Vapi plays what comes; jambonz waits for the file.
      const isPlayed = asked.prepared.rateHz !== null;
      return streamSpeech(deps, asked, request, reply, {
        ...bytesForm("pcm", isPlayed),
        encoding,
        headers,
      });
    },
  );
}

/** What the answer is made into, and its type. @param ownHz the rate that the request itself asks for */
function formOf(ownHz: number | null, queryHz: number | null): [Encoding, string] {
  if (ownHz !== null) return [samplesAt(ownHz, "message.sampleRate"), "application/octet-stream"];
  if (queryHz === null) return ["mp3", "audio/mpeg"];
  return [samplesAt(queryHz, "rate"), `audio/l16;rate=${queryHz}`];
}

function samplesAt(rateHz: number, field: string): Encoding {
  const encoding = pcmAt(rateHz);
  if (encoding !== null) return encoding;
  throw new ServiceError(400, `${field} must be one of ${TELEPHONY_RATES.join(", ")}`, { param: field });
}

/** A parameter of the query that may be there once. */
function one(name: string, value: unknown): string | null {
  if (value === undefined || value === "") return null;
  if (typeof value === "string") return value;
  throw new ServiceError(400, `${name} is in the query more than once: send it once`, { param: name });
}
