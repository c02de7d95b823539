/** A server-sent event as it came: its data is not looked into. */
export interface SentEvent {
  /** `message` where it was not named. */
  readonly event: string;
  readonly data: string;
}

/** A CR at the end of what has come may be the first half of a CR and LF. */
const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * The server-sent events of a stream of bytes, however it is cut. Comments, ids and half an event at the end are skipped.
 * By "Interpreting an event stream" of the HTML standard, section 9.2.6.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SentEvent, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "";
  let data: string[] = [];
  function* take(lines: readonly string[]): Generator<SentEvent, void, void> {
    for (const line of lines) {
      const [, name, value = ""] = /^(data|event)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name === "data") data.push(value);
      else if (name) event = value;
      else if (line === "") {
        if (data.length > 0) yield { event: event || "message", data: data.join("\n") };
        event = "";
        data = [];
      }
    }
  }
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    rest += text;
    // A long line that comes in many pieces is looked through once.
    if (!LINE_END.test(text)) continue;
    const lines = rest.split(LINE_END);
    rest = lines.pop()!;
    yield* take(lines);
  }
  // Behind the last CR stands something now, so it is a line's end.
  yield* take(`${rest + decoder.decode()}.`.split(LINE_END).slice(0, -1));
}
