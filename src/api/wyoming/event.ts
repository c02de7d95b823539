/** One event of the Wyoming protocol, either way. */
export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Raw bytes, of audio; `null` where there are none. */
  readonly payload: Uint8Array | null;
}

/** An event that has come. */
export interface ReceivedEvent extends WyomingEvent {
  /** Of its line and its data, which had to be read. */
  readonly jsonBytes: number;
}

/** An event to be sent. */
export function eventOf(
  type: string,
  data: Readonly<Record<string, unknown>> = {},
  payload: Uint8Array | null = null,
): WyomingEvent {
  return { type, data, payload };
}

/**
 * An event as it goes over the wire: a line of JSON that tells its type and the lengths of what follows, then its data as
 * JSON, then its payload. What is empty is left out.
 */
export function encodeEvent({ type, data, payload }: WyomingEvent): Uint8Array {
  const json = Object.keys(data).length === 0 ? null : Buffer.from(JSON.stringify(data));
  const hasPayload = payload !== null && payload.length > 0;
  const header = {
    type,
    version: PROTOCOL_VERSION,
    ...(json === null ? {} : { data_length: json.length }),
    ...(hasPayload ? { payload_length: payload.length } : {}),
  };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  return Buffer.concat([line, ...(json === null ? [] : [json]), ...(hasPayload ? [payload] : [])]);
}

/** The release of the `wyoming` package for Python whose events these are. Receivers do not read it. */
const PROTOCOL_VERSION = "1.10.2";
