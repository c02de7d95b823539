import { readJsonBody } from "../contract/json-body.ts";
import {
  parseAudioSpeechRequest,
  parseConverseRequest,
  parseTelephonyRequest,
  parseTtsRequest,
} from "../contract/validate.ts";
import { type Prepared, prepareConverse, prepareTts, type ResolveModel } from "./prepare.ts";
import { type PreparedSpeech, prepareSpeech } from "./prepare-speech.ts";
import { type PreparedCall, prepareTelephony } from "./prepare-telephony.ts";

/** What becomes of a body, by what it is meant for. */
export interface PreparedFor {
  readonly tts: Prepared;
  readonly converse: Prepared;
  readonly speech: PreparedSpeech;
  readonly telephony: PreparedCall;
}

/** What a body is meant for. */
export type Purpose = keyof PreparedFor;

/**
 * From the bytes of a body to a request that has been checked in full. Throws a 422 or 400 `ServiceError`.
 *
 * @param voice of the path's query, where `telephony` has one
 */
export function prepareBody<P extends Purpose>(
  purpose: P,
  body: Uint8Array,
  resolve: ResolveModel,
  voice: string | null = null,
): PreparedFor[P] {
  const { value, textOf } = readJsonBody(body);
  const prepare: { [Q in Purpose]: () => PreparedFor[Q] } = {
    tts: () => prepareTts(parseTtsRequest(value), resolve),
    converse: () => prepareConverse(parseConverseRequest(value), resolve, textOf),
    speech: () => prepareSpeech(parseAudioSpeechRequest(value), resolve),
    telephony: () => prepareTelephony(parseTelephonyRequest(value), resolve, voice),
  };
  return prepare[purpose]();
}
