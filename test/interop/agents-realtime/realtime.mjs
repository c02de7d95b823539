// OpenAI's agents for JavaScript: a spoken conversation by a `RealtimeSession` over a WebSocket.

import { RealtimeAgent, RealtimeSession, tool } from "@openai/agents-realtime";
import { conversation, KEY, URL_V1 } from "./report.mjs";
import { Conversation, FUNCTION, WEATHER } from "./user.mjs";

const held = new Conversation();
held.calls = [];
const weather = tool({
  ...FUNCTION,
  strict: false,
  async execute(given) {
    held.calls.push(given);
    return WEATHER;
  },
});
const agent = new RealtimeAgent({
  name: "Friend",
  instructions: "Be brief.",
  voice: "alloy",
  tools: [weather],
});
const session = new RealtimeSession(agent, { transport: "websocket", model: "gpt-realtime" });

let reply = null;
session.on("transport_event", (event) => {
  held.saw(event.type);
  if (event.type === "response.created") reply = held.reply();
  if (event.type === "response.output_audio_transcript.done") reply.text(event.transcript);
  if (event.type === "response.done") reply.done();
  if (event.type === "conversation.item.input_audio_transcription.completed")
    held.transcripts.push(event.transcript);
});
session.on("audio", ({ data }) => reply.sound(data.byteLength));
session.on("audio_interrupted", () => held.interrupted());
session.on("error", ({ error }) => held.errors.push(describe(error)));

await session.connect({ apiKey: KEY, url: `${URL_V1.replace("http", "ws")}/realtime?model=gpt-realtime` });
const report = await held.hold((pcm) =>
  session.sendAudio(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length)),
);
const said = session.history.filter(({ type, role }) => type === "message" && role === "assistant");
if (said.length < 3) report.errors.push(`the history holds ${said.length} replies`);
session.close();
conversation("a spoken conversation", report);

function describe(error) {
  return error instanceof Error ? error.message : JSON.stringify(error);
}
