// A voice agent that calls a function, on this machine's microphone and loudspeaker. Needs SoX. Wear headphones.
//   ANTIPHON_KEY=ant_... node examples/agent.mjs
import { spawn } from "node:child_process";
import { RealtimeConversation } from "antiphon/client/realtime";
import { WebSocket } from "ws";

const functions = { weather: async ({ town }) => ({ town, sky: "clear", celsius: 24 }) };
const town = { type: "object", properties: { town: { type: "string" } }, required: ["town"] };
const RAW = ["-q", "-t", "raw", "-e", "signed-integer", "-b", "16", "-r", "24000", "-c", "1", "-"];

const agent = new RealtimeConversation({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080",
  apiKey: process.env.ANTIPHON_KEY,
  WebSocket,
  session: {
    instructions: "You are a weather reporter. Answer in one sentence.",
    tools: [{ type: "function", name: "weather", description: "The weather in a town", parameters: town }],
    audio: { input: { turn_detection: { type: "semantic_vad" } }, output: { voice: "maya" } },
  },
  openPlayer,
  onTurn: (turn) => turn?.state === "done" && console.log(`${turn.role}: ${turn.text}`),
  onError: (error) => console.error(error.message),
  onState: (state) => state === "closed" && process.exit(),
  onEvent: (event) => {
    if (event.type === "response.done") runFunctions(event.response);
    if (event.type === "session.updated" && event.session.tools.length === 0)
      console.error("The server's writer cannot call functions: see docs/writer.md.");
  },
});

async function runFunctions({ output, status }) {
  const calls = output.filter(({ type }) => type === "function_call");
  for (const { call_id, name, arguments: given } of calls) {
    const output = JSON.stringify(await functions[name](JSON.parse(given)));
    agent.send({ type: "conversation.item.create", item: { type: "function_call_output", call_id, output } });
  }
  // After an interruption, the reply to the user includes the outputs.
  if (calls.length > 0 && status === "completed") agent.send({ type: "response.create" });
}

/** Plays one reply. The conversation reports to the server how much of it was played. */
function openPlayer({ onEnd }) {
  const player = spawn("play", RAW, { stdio: ["pipe", "ignore", "ignore"] });
  let startedMs = null;
  player.on("exit", onEnd);
  player.stdin.on("error", () => {});
  return {
    get positionS() {
      return startedMs === null ? 0 : (performance.now() - startedMs) / 1_000;
    },
    add(pcm) {
      startedMs ??= performance.now();
      player.stdin.write(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
    },
    complete: () => player.stdin.end(),
    stop: () => player.kill("SIGKILL"),
  };
}

await agent.connect();
const microphone = spawn("rec", ["--buffer", "1024", ...RAW], { stdio: ["ignore", "pipe", "inherit"] });
microphone.stdout.on("data", (chunk) => agent.hear(new Int16Array(new Uint8Array(chunk).buffer)));
