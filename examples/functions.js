// Asks a question that needs two functions, with OpenAI's package, and prints the answer. The server's writer must be
// a model that calls functions. First: npm install openai ws
//   ANTIPHON_KEY=ant_... node examples/functions.js "How is it in Rome, and what time is it there?"
import { connect } from "node:net";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";

const [question = "How is the weather in Rome, and what time is it there?"] = process.argv.slice(2);
const baseURL = `${process.env.BASE_URL ?? "http://127.0.0.1:8080"}/v1`;
const town = { type: "object", properties: { town: { type: "string" } }, required: ["town"] };
const tools = [
  { type: "function", name: "weather", description: "The weather in a town", parameters: town },
  { type: "function", name: "clock", description: "The time in a town", parameters: town },
];
const functions = {
  weather: async ({ town }) => ({ town, sky: "clear", celsius: 24 }),
  clock: async ({ town }) => ({ town, time: "14:05" }),
};

const client = new OpenAI({ baseURL, apiKey: process.env.ANTIPHON_KEY });
// The package always connects by wss; this option connects without TLS.
const options = { createConnection: ({ host, port }) => connect(port, host) };
const realtime = new OpenAIRealtimeWS({ model: "gpt-realtime", options }, client);
realtime.on("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
  realtime.close();
});

realtime.on("session.created", () => {
  // Without output_modalities, the answer is spoken.
  realtime.send({
    type: "session.update",
    session: { type: "realtime", output_modalities: ["text"], tools },
  });
  const content = [{ type: "input_text", text: question }];
  realtime.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  realtime.send({ type: "response.create" });
});

realtime.on("response.output_text.done", ({ text }) => console.log(text));

realtime.on("response.done", async ({ response }) => {
  const calls = response.output.filter(({ type }) => type === "function_call");
  // A reply may have several calls: send all outputs, then one response.create.
  const outputs = await Promise.all(
    calls.map(async (call) => ({
      type: "function_call_output",
      call_id: call.call_id,
      output: JSON.stringify(await functions[call.name](JSON.parse(call.arguments))),
    })),
  );
  for (const item of outputs) realtime.send({ type: "conversation.item.create", item });
  if (calls.length === 0) realtime.close();
  // After an interruption, the reply to the user includes the outputs.
  else if (response.status === "completed") realtime.send({ type: "response.create" });
});
