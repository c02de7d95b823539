// OpenAI's own package for Node: a spoken conversation by `OpenAIRealtimeWS`.

import { connect } from "node:net";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { conversation, KEY, URL_V1 } from "./report.mjs";
import { Conversation, FUNCTION, WEATHER } from "./user.mjs";

const client = new OpenAI({ baseURL: URL_V1, apiKey: KEY });
// It dials wss whatever the base URL is: this has it connect without TLS.
const options = { createConnection: ({ host, port }) => connect(port, host) };
const realtime = new OpenAIRealtimeWS({ model: "gpt-realtime", options }, client);

const held = new Conversation();
held.calls = [];
const replies = new Map();
realtime.on("event", ({ type }) => held.saw(type));
realtime.on("error", (error) => held.errors.push(error.message));
realtime.on("conversation.item.input_audio_transcription.completed", ({ transcript }) =>
  held.transcripts.push(transcript),
);
realtime.on("input_audio_buffer.speech_started", () => held.interrupted());
realtime.on("response.created", ({ response }) => replies.set(response.id, held.reply()));
realtime.on("response.output_audio.delta", ({ response_id, delta }) =>
  replies.get(response_id).sound(Buffer.from(delta, "base64").length),
);
realtime.on("response.output_audio_transcript.done", ({ response_id, transcript }) =>
  replies.get(response_id).text(transcript),
);
realtime.on("response.function_call_arguments.done", (call) => held.calls.push(JSON.parse(call.arguments)));
realtime.on("response.done", ({ response }) => {
  replies.get(response.id).done();
  const calls = response.output.filter(({ type }) => type === "function_call");
  for (const { call_id } of calls) {
    const item = { type: "function_call_output", call_id, output: WEATHER };
    realtime.send({ type: "conversation.item.create", item });
  }
  if (calls.length > 0) realtime.send({ type: "response.create" });
});

await new Promise((resolve, reject) => {
  realtime.on("session.updated", resolve);
  realtime.on("error", reject);
  realtime.on("session.created", () =>
    realtime.send({
      type: "session.update",
      session: {
        type: "realtime",
        audio: {
          input: { transcription: { model: "whisper-1" }, turn_detection: { type: "semantic_vad" } },
          output: { voice: "alloy" },
        },
        tools: [{ type: "function", ...FUNCTION }],
      },
    }),
  );
});
const report = await held.hold((pcm) =>
  realtime.send({ type: "input_audio_buffer.append", audio: pcm.toString("base64") }),
);
realtime.close();
conversation("a spoken conversation", report);
