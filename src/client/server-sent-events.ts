/** A server-sent event with its raw data. */
export interface SentEvent {
  /** `message` if unnamed. */
  readonly event: string;
  readonly data: string;
}

/** A CR at the end may be the first half of a CRLF. */
const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * Parses server-sent events from bytes split anywhere. Skips comments, ids and an incomplete last event. HTML
 * standard, section 9.2.6, "Interpreting an event stream".
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
    // Searches each part of a long line only once.
    if (!LINE_END.test(text)) continue;
    const lines = rest.split(LINE_END);
    rest = lines.pop()!;
    yield* take(lines);
  }
  // The appended character makes a final CR a line end.
  yield* take(`${rest + decoder.decode()}.`.split(LINE_END).slice(0, -1));
}
