import { Busboy } from "@fastify/busboy";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FORM_EXTRA_BYTES } from "../../contract/audio-transcriptions.ts";
import { fieldError, fieldLabel, ServiceError } from "../../contract/errors.ts";
import type { FormField } from "../../contract/transcription-form.ts";
import { GrowingBytes } from "../../serving/prepare/growing-bytes.ts";
import { SMALL_BODY_BYTES } from "../../serving/prepare/request-parser.ts";
import type { RequestReader } from "../../serving/prepare/request-reader.ts";
import { isOfMediaType, sendError } from "./errors.ts";
import { type IncomingBody, receiveBody } from "./request-body.ts";

/** A received form. The memory of its file counts until the request ends. */
export interface ReceivedForm {
  readonly fields: readonly FormField[];
  /** Owns its buffer. */
  readonly file: Uint8Array<ArrayBuffer>;
}

/** Makes `app` accept only forms with one file; other bodies get a 422. */
export function readFormBodies(app: FastifyInstance, requestReader: RequestReader, wanted: FormFile): void {
  const { field } = wanted;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^multipart\/form-data(?:\s*;|\s*$)/i, async (request: FastifyRequest) =>
    receiveBody(
      request,
      (caller, bytes) => requestReader.admitRecording(caller, formMemoryBytes(bytes)),
      (coming) => readForm(coming, `${request.headers["content-type"]}`, wanted),
    ),
  );
  app.addContentTypeParser("*", (_request, _payload, done) => done(notAForm(field)));
  app.setErrorHandler((error, request, reply) => {
    sendError(isOfMediaType(error) ? notAForm(field) : error, request, reply);
  });
}

/**
 * Returns the form of a request; throws a 422 if there is none.
 *
 * @param field name of the file's field
 */
export function requireForm(request: FastifyRequest, field: string): ReceivedForm {
  const body = request.body as ReceivedForm | null | undefined;
  if (body !== null && body !== undefined) return body;
  throw notAForm(field);
}

function notAForm(field: string): ServiceError {
  return new ServiceError(
    422,
    `the body must be a form: send it with Content-Type: multipart/form-data, and the recording in its field ${field}`,
  );
}

/** Returns the bytes that a form takes: the file, and the text fields as strings. */
function formMemoryBytes(bodyBytes: number): number {
  return bodyBytes <= SMALL_BODY_BYTES ? bodyBytes : bodyBytes + MAX_TEXT_BYTES;
}

/** Detects a line of text, such as curl sends for `-F file=voice.wav`. */
function isText(bytes: Uint8Array): boolean {
  return bytes.length <= 1_024 && /^[^\p{C}\ufffd]+\s*$/u.test(Buffer.from(bytes).toString("utf8"));
}

async function readForm(coming: IncomingBody, contentType: string, wanted: FormFile): Promise<ReceivedForm> {
  const reader = new FormReader(contentType, wanted, coming.lengthBytes);
  for await (const chunk of coming.chunks()) await reader.write(chunk);
  const { fields, textBytes, file, isFileNamed } = await reader.end();
  if (file === null) {
    const { field } = wanted;
    throw fieldError(field, "is missing: send the recording as a file in a field of that name", 422);
  }
  if (!isFileNamed && isText(file.bytes)) {
    const { field } = wanted;
    throw fieldError(
      field,
      `is text and no recording: send the file itself, with curl by an @ before its name, as in -F ${field}=@voice.wav`,
      422,
    );
  }
  coming.holding()?.shrink(file.capacity + textBytes);
  return { fields, file: file.bytes };
}

/** The form's file: its field and maximum size. */
export interface FormFile {
  readonly field: string;
  readonly maxBytes: number;
}

export interface ReadForm {
  readonly fields: readonly FormField[];
  /** Bytes of the fields, two per code unit. */
  readonly textBytes: number;
  readonly file: GrowingBytes | null;
  /** Whether the form gives a file name; text in place of a file has none. */
  readonly isFileNamed: boolean;
}

/** Maximum bytes of the text fields once they are read. */
export const MAX_TEXT_BYTES = 2 * FORM_EXTRA_BYTES;

/** Maximum number of fields: more than all repeatable fields can add up to. */
const MAX_FIELDS = 160;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
/**
 * Larger than any form: if an unnamed last part filled the parser's buffer, the parser would never finish. The buffer
 * stays small, since data is consumed as it comes.
 */
const PART_BUFFER_BYTES = 64 * 2 ** 20;

/** Parses a form as it arrives. Stops at the first fault. */
export class FormReader {
  readonly #parser: InstanceType<typeof Busboy>;
  readonly #fields: FormField[] = [];
  readonly #over: Promise<void>;
  #isOver = false;
  #onOver = (): void => {};
  #file: GrowingBytes | null = null;
  #isFileNamed = false;
  #fault: ServiceError | null = null;
  #hasAny = false;
  #textChars = 0;

  constructor(contentType: string, { field, maxBytes }: FormFile, lengthBytes: number | null) {
    this.#parser = parserOf(contentType, field);
    this.#over = new Promise((resolve) => {
      this.#parser.once("finish", resolve);
      this.#parser.once("error", () => {
        this.#fail(
          this.#hasAny
            ? "the form is cut off or damaged: send it whole, up to its last boundary"
            : "the body is not a multipart form: its parts must be separated by the boundary that Content-Type names",
        );
        resolve();
      });
    });
    void this.#over.then(() => {
      this.#isOver = true;
      this.#onOver();
    });
    this.#parser.on("field", (name, value, _isNameCut, isCut) => {
      this.#hasAny = true;
      if (isCut) this.#fail(`${fieldLabel(`${name}`)} is over ${MAX_FIELD_BYTES} bytes: send less`);
      else this.#add({ name: `${name}`, value });
    });
    this.#parser.on("file", (name, stream, fileName) => {
      this.#hasAny = true;
      stream.on("error", () => {});
      if (name !== field)
        this.#fail(
          `${fieldLabel(`${name}`)} is sent as a file: send it as text, and the recording in ${field}`,
        );
      else if (this.#file !== null)
        this.#fail(`${field} is there more than once: send one recording in a request`);
      if (this.#fault !== null) {
        stream.resume();
        return;
      }
      const file = new GrowingBytes(lengthBytes ?? SMALL_BODY_BYTES, maxBytes);
      this.#file = file;
      this.#isFileNamed = fileName !== undefined;
      stream.on("data", (piece: Uint8Array) => {
        if (file.length + piece.length > maxBytes) {
          this.#fail(`${field} is over the cap of ${maxBytes} bytes (25 MiB): send less, or in pieces`, 400);
        } else file.add(piece);
      });
    });
    for (const event of ["fieldsLimit", "partsLimit"] as const) {
      this.#parser.once(event, () => this.#fail(`the form has over ${MAX_FIELDS} fields: send fewer`));
    }
  }

  /** Throws a 422 or 400 {@link ServiceError} on the first fault. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#fault === null) {
      // `Promise.race` against `#over` would retain memory for every chunk.
      await new Promise<void>((resolve) => {
        this.#onOver = resolve;
        this.#parser.write(chunk, () => resolve());
        if (this.#isOver) resolve();
      });
    }
    this.#check();
  }

  async end(): Promise<ReadForm> {
    this.#parser.end();
    await this.#over;
    this.#check();
    const [fields, file, isFileNamed] = [this.#fields, this.#file, this.#isFileNamed];
    return { fields, textBytes: 2 * this.#textChars, file, isFileNamed };
  }

  #add(field: FormField): void {
    this.#textChars += field.name.length + field.value.length;
    if (this.#textChars <= FORM_EXTRA_BYTES) this.#fields.push(field);
    else this.#fail(`the text fields are over ${FORM_EXTRA_BYTES} bytes together: send less in them`);
  }

  #fail(message: string, status: 400 | 422 = 422): void {
    this.#fault ??= new ServiceError(status, message);
  }

  #check(): void {
    if (this.#fault === null) return;
    this.#parser.destroy();
    throw this.#fault;
  }
}

function parserOf(contentType: string, field: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      fileHwm: PART_BUFFER_BYTES,
      isPartAFile: (name, _type, fileName) => name === field || fileName !== undefined,
      limits: {
        fields: MAX_FIELDS,
        parts: MAX_FIELDS + 4,
        fieldSize: MAX_FIELD_BYTES,
        headerSize: MAX_HEADER_BYTES,
      },
    });
  } catch (cause) {
    throw new ServiceError(422, "Content-Type names no boundary: let the client's library make the form", {
      cause,
    });
  }
}
