// A telephone agent that calls functions: this program relays between Twilio and Antiphon, and runs the functions.
// In the TwiML, <Stream url="wss://..."> is the public address of this program. First: npm install ws
//   ANTIPHON_KEY=ant_... PORT=8090 node examples/phone-functions.js
import { WebSocket, WebSocketServer } from "ws";

const antiphon = (process.env.BASE_URL ?? "http://127.0.0.1:8080").replace(/^http/, "ws");
const headers = { Authorization: `Bearer ${process.env.ANTIPHON_KEY}` };
const session = {
  type: "realtime",
  instructions: "You answer the telephone of a bakery. Be brief.",
  tools: [{ type: "function", name: "opening_hours", description: "When the bakery is open today" }],
  audio: {
    input: { format: { type: "audio/pcmu" }, turn_detection: { type: "semantic_vad" } },
    output: { format: { type: "audio/pcmu" } },
  },
};
const functions = { opening_hours: async () => ({ from: "7:00", to: "18:00" }) };

new WebSocketServer({ port: Number(process.env.PORT ?? 8090) }).on("connection", (twilio) => {
  const agent = new WebSocket(`${antiphon}/v1/realtime`, { headers });
  let streamSid = "";
  /** What Twilio holds of the reply: its item, milliseconds sent, and milliseconds played by the last mark. */
  let playing = null;
  const tell = (event) => agent.readyState === WebSocket.OPEN && agent.send(JSON.stringify(event));
  const send = (event, fields) => twilio.send(JSON.stringify({ event, streamSid, ...fields }));

  agent.on("open", () => tell({ type: "session.update", session }));
  for (const [one, other] of [
    [agent, twilio],
    [twilio, agent],
  ]) {
    one.on("close", () => other.close());
    one.on("error", (error) => console.error(error.message));
  }

  twilio.on("message", (message) => {
    const { event, start, media, mark } = JSON.parse(message);
    if (event === "start") streamSid = start.streamSid;
    else if (event === "media") tell({ type: "input_audio_buffer.append", audio: media.payload });
    else if (event === "mark" && playing !== null) {
      const [itemId, ms] = mark.name.split("/");
      if (itemId === playing.itemId) playing.heardMs = Number(ms);
    } else if (event === "stop") agent.close();
  });

  agent.on("message", async (message) => {
    const event = JSON.parse(message);
    if (event.type === "response.output_audio.delta") {
      const { item_id: itemId, delta } = event;
      if (playing?.itemId !== itemId) playing = { itemId, sentMs: 0, heardMs: 0 };
      playing.sentMs += Buffer.from(delta, "base64").length / 8;
      send("media", { media: { payload: delta } });
      send("mark", { mark: { name: `${itemId}/${Math.floor(playing.sentMs)}` } });
    } else if (event.type === "input_audio_buffer.speech_started" && playing !== null) {
      // The caller interrupts: Twilio drops its buffered audio, and Antiphon gets the milliseconds that were played.
      send("clear", {});
      const { itemId, heardMs } = playing;
      if (heardMs < Math.floor(playing.sentMs))
        tell({
          type: "conversation.item.truncate",
          item_id: itemId,
          content_index: 0,
          audio_end_ms: heardMs,
        });
      playing = null;
    } else if (event.type === "response.done") {
      const calls = event.response.output.filter(({ type }) => type === "function_call");
      for (const call of calls) {
        const output = JSON.stringify(await functions[call.name](JSON.parse(call.arguments)));
        const item = { type: "function_call_output", call_id: call.call_id, output };
        tell({ type: "conversation.item.create", item });
      }
      if (calls.length > 0 && event.response.status === "completed") tell({ type: "response.create" });
    } else if (event.type === "error") console.error(event.error.message);
  });
});
