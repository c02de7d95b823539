import type { FastifyInstance } from "fastify";
import { isSentWhole } from "../../../contract/audio-speech.ts";
import type { AudioModelList } from "../../../contract/replies.ts";
import { cautionsTold } from "../../../serving/prepare/read-markup.ts";
import { preparedFrom } from "../body.ts";
import type { HttpDeps } from "../deps.ts";
import { bytesForm, eventsForm, MEDIA_TYPES } from "../speech-forms.ts";
import { streamSpeech } from "../stream-speech.ts";
import { collect, sendFile, tellCut } from "../whole-reply.ts";

/** Room for the longest input with every character escaped, and for instructions. */
const BODY_LIMIT_BYTES = 512 * 1024;

/** `POST /v1/audio/speech` and `GET /v1/audio/models`: text to speech for clients of OpenAI's API. */
export function audioSpeechRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(BODY_LIMIT_BYTES, deps.options.bodyLimitBytes);
  app.post("/v1/audio/speech", { bodyLimit, config: { access: "token" } }, async (request, reply) => {
    const asked = await preparedFrom("speech", deps.requestReader, request, reply);
    const { format, streamFormat, nearestSpeed, mannerHeader } = asked.prepared;
    if (nearestSpeed !== null) reply.header("X-Antiphon-Speed", `${nearestSpeed}`);
    const told = cautionsTold(asked.prepared);
    if (told !== null) reply.header("X-Antiphon-Cautions", told);
    if (mannerHeader !== null) reply.header("X-Antiphon-Manner", mannerHeader);
    if (isSentWhole(format, streamFormat)) {
      const { file, outcome } = await collect(deps, asked, request, format);
      tellCut(reply, outcome);
      return sendFile(reply, file, MEDIA_TYPES[format]);
    }
    // Who names no stream mostly saves a file, or plays it once it is whole.
    const isPlayed = streamFormat !== undefined;
    const form = streamFormat === "sse" ? eventsForm(format, request.id) : bytesForm(format, isPlayed);
    return streamSpeech(deps, asked, request, reply, form);
  });

  const access = deps.options.keylessLists === "none" ? "key" : "open";
  app.get("/v1/audio/models", { config: { access } }, async (): Promise<AudioModelList> => {
    const cards = deps.cards();
    return { object: "list", data: cards, models: cards.map(({ id, display_name: name }) => ({ id, name })) };
  });
}
