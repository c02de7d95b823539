import { eventOf, pcmOf, pcmOfEvents, type Reply, type SentEvent } from "../api/http/wire.ts";

export interface Client {
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Reply>;
  get(path: string): Promise<Reply>;
  /** Yields the events of a streamed reply. Leaving early closes the connection. */
  stream(body: unknown): AsyncGenerator<SentEvent, void, void>;
  /** Returns a reply's samples as bytes. Throws unless the status is 200. */
  tts(body: unknown): Promise<Buffer>;
  converse(body: unknown): Promise<Buffer>;
  streamed(body: unknown): Promise<Buffer>;
  usage(): Promise<UsageSummary>;
}

export interface UsageSummary {
  readonly key_id: string;
  readonly requests: number;
  readonly input_chars: number;
  readonly input_audio_seconds: number;
  readonly output_audio_seconds: number;
}

export function clientOf(url: string, key: string): Client {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const post: Client["post"] = (path, body, signal) =>
    fetch(url + path, {
      method: "POST",
      headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
      signal: signal ?? null,
    });
  const get: Client["get"] = (path) => fetch(url + path, { headers });
  const stream = async function* (body: unknown): AsyncGenerator<SentEvent, void, void> {
    const leave = new AbortController();
    const response = await post("/v1/converse/stream", body, leave.signal);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    try {
      yield* eventsOf(response);
    } finally {
      leave.abort();
    }
  };
  return {
    post,
    get,
    stream,
    tts: async (body) => pcmOf((await okay(await post("/v1/tts", body))).audio.data_b64),
    converse: async (body) => pcmOf((await okay(await post("/v1/converse", body))).reply.audio.data_b64),
    async streamed(body) {
      const events: SentEvent[] = [];
      for await (const event of stream(body)) events.push(event);
      if (events.at(-1)?.event !== "end") throw new Error(JSON.stringify(events.at(-1)));
      return pcmOfEvents(events);
    },
    usage: async () => okay(await get("/v1/usage")),
  };
}

/** Returns a reply's JSON; throws unless the status is 200. */
export async function okay(response: Reply): Promise<ReturnType<Reply["json"]>> {
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

async function* eventsOf(response: Reply): AsyncGenerator<SentEvent, void, void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (!block.startsWith(":")) yield eventOf(block);
    }
  }
}
