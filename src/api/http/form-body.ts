import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../../contract/errors.ts";
import type { FormField } from "../../contract/transcription-form.ts";
import { SMALL_BODY_BYTES } from "../../serving/prepare/preparer.ts";
import type { RequestReader } from "../../serving/prepare/request-reader.ts";
import { type ComingBody, receiveBy } from "./body.ts";
import { isOfMediaType, sendError } from "./errors.ts";
import { type FormFile, FormReader, MAX_TEXT_BYTES } from "./form-reader.ts";

/** A form as it came: its text fields, and the one file that it may have, whose memory counts until the request ends. */
export interface ReceivedForm {
  readonly fields: readonly FormField[];
  /** In a buffer of its own. */
  readonly file: Uint8Array<ArrayBuffer>;
}

/** Makes a form with one file the only body there is in `app`; everything else is a 422 that says so. */
export function readFormBodies(app: FastifyInstance, requestReader: RequestReader, wanted: FormFile): void {
  const { field } = wanted;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^multipart\/form-data(?:\s*;|\s*$)/i, async (request: FastifyRequest) =>
    receiveBy(
      request,
      (caller, bytes) => requestReader.admitRecording(caller, takenFor(bytes)),
      (coming) => readForm(coming, `${request.headers["content-type"]}`, wanted),
    ),
  );
  app.addContentTypeParser("*", (_request, _payload, done) => done(noForm(field)));
  app.setErrorHandler((error, request, reply) => {
    sendError(isOfMediaType(error) ? noForm(field) : error, request, reply);
  });
}

/** The form of a request; a request without one is a 422. @param field that its file is in */
export function formOf(request: FastifyRequest, field: string): ReceivedForm {
  const body = request.body as ReceivedForm | null | undefined;
  if (body !== null && body !== undefined) return body;
  throw noForm(field);
}

function noForm(field: string): ServiceError {
  return new ServiceError(
    422,
    `the body must be a form: send it with Content-Type: multipart/form-data, and the recording in its field ${field}`,
  );
}

/** What a body of so many bytes takes: the file as it comes, and beside it the text as strings. */
function takenFor(bodyBytes: number): number {
  return bodyBytes <= SMALL_BODY_BYTES ? bodyBytes : bodyBytes + MAX_TEXT_BYTES;
}

/** Whether it is a line of text, as what curl sends of `-F file=voice.wav`. */
function isText(bytes: Uint8Array): boolean {
  return bytes.length <= 1_024 && /^[^\p{C}\ufffd]+\s*$/u.test(Buffer.from(bytes).toString("utf8"));
}

async function readForm(coming: ComingBody, contentType: string, wanted: FormFile): Promise<ReceivedForm> {
  const reader = new FormReader(contentType, wanted, coming.lengthBytes);
  for await (const chunk of coming.chunks()) await reader.write(chunk);
  const { fields, textBytes, file, isFileNamed } = await reader.end();
  if (file === null) {
    const { field } = wanted;
    throw new ServiceError(422, `${field} is missing: send the recording as a file in a field of that name`, {
      param: field,
    });
  }
  if (!isFileNamed && isText(file.bytes)) {
    const { field } = wanted;
    throw new ServiceError(
      422,
      `${field} is text and no recording: send the file itself, with curl by an @ before its name, as in -F ${field}=@voice.wav`,
      {
        param: field,
      },
    );
  }
  coming.holding()?.shrink(file.capacity + textBytes);
  return { fields, file: file.bytes };
}
