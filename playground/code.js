// Programs that make the same request as the page. Loaded when the panel opens.

/** The programs by their name. */
export const KINDS = {
  curl: curl,
  "Python, openai": openaiPython,
  Python: python,
  Node: node,
  LiveKit: livekit,
  "Open WebUI": openWebUi,
  "Home Assistant": homeAssistant,
};

/**
 * Returns the code of a program. It has no key: programs read `ANTIPHON_KEY` from the environment.
 *
 * @param origin the server's, as in `location`
 * @param body the request, with the name of a file in the place of each `audio_wav_b64`
 */
export const codeFor = (kind, origin, body) => KINDS[kind](origin, body);

/** Writes a value as a literal, one turn per line. `text` writes strings, `file` the base64 of a file. */
function literal(value, { text = JSON.stringify, file, nothing = "null" }, depth = 0, name = "") {
  const inner = (each, key) => literal(each, { text, file, nothing }, depth + 1, key);
  if (value === null) return nothing;
  if (typeof value === "string") return name === "audio_wav_b64" ? file(value) : text(value);
  if (typeof value !== "object") return `${value}`;
  const parts = Array.isArray(value)
    ? value.map((each) => inner(each, ""))
    : Object.entries(value).map(([key, each]) => `"${key}": ${inner(each, key)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (depth > 1 || parts.length === 0) return `${open}${parts.join(", ")}${close}`;
  const pad = "  ".repeat(depth);
  return `${open}\n${parts.map((part) => `${pad}  ${part}`).join(",\n")}\n${pad}${close}`;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const hasFiles = ({ conversation }) => conversation.some((turn) => turn.audio_wav_b64);

/** Reads audio files into a here-document, because arguments have a maximum length. */
function curl(origin, body) {
  const start = `curl -fsS ${origin}/v1/converse \\
  -H "Authorization: Bearer $ANTIPHON_KEY" -H 'Content-Type: application/json'`;
  const end = `sed 's/.*"data_b64":"\\([^"]*\\)".*/\\1/' | base64 -d > reply.wav`;
  if (!hasFiles(body)) return `${start} \\\n  -d ${quoted(literal(body, {}))} \\\n  | ${end}`;
  const json = literal(body, {
    text: (value) => JSON.stringify(value).replace(/[\\$`]/g, "\\$&"),
    file: (name) => `"$(base64 < ${quoted(name)} | tr -d '\\n')"`,
  });
  return `${start} \\\n  --data-binary @- <<JSON | ${end}\n${json}\nJSON`;
}

const PYTHON = { nothing: "None", file: (name) => `wav_b64(${JSON.stringify(name)})` };

function python(origin, body) {
  const reads = `def wav_b64(name):
    with open(name, "rb") as file:
        return base64.b64encode(file.read()).decode()


`;
  return `import base64
import json
import os
import urllib.request

${hasFiles(body) ? `\n${reads}` : ""}body = ${literal(body, PYTHON)}
request = urllib.request.Request(
    "${origin}/v1/converse",
    data=json.dumps(body).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["ANTIPHON_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as answer:
    reply = json.load(answer)["reply"]

print(reply["text"])
with open("reply.wav", "wb") as file:
    file.write(base64.b64decode(reply["audio"]["data_b64"]))`;
}

function node(origin, body) {
  const file = (name) => `toBase64(await readFile(${JSON.stringify(name)}))`;
  const [fs, client] = hasFiles(body) ? ["readFile, writeFile", ", toBase64"] : ["writeFile", ""];
  return `import { ${fs} } from "node:fs/promises";
import { Antiphon, encodeWav${client} } from "antiphon/client";

const antiphon = new Antiphon({ baseUrl: "${origin}" }); // finds the key in ANTIPHON_KEY
const frames = [];
for await (const event of antiphon.stream(${literal(body, { file })})) {
  if (event.event === "audio") frames.push(event.pcm);
  if (event.event === "end") console.log(event.data.text);
}
await writeFile("reply.wav", encodeWav(frames));`;
}

/** Returns the fields for OpenAI's API, which takes only the text of the last turn. */
function spoken({ conversation, voices = {}, model = "tts-1" }) {
  const { speaker, text = "The words to speak." } = conversation.at(-1);
  const voice = voices[speaker] ?? speaker;
  return { model: JSON.stringify(model), voice: JSON.stringify(voice), text: JSON.stringify(text) };
}

function openaiPython(origin, body) {
  const { model, voice, text } = spoken(body);
  return `# pip install openai
# OpenAI's API has no conversations: this speaks the last turn only.
import os

from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["ANTIPHON_KEY"])
with client.audio.speech.with_streaming_response.create(
    model=${model},
    voice=${voice},
    input=${text},
    response_format="mp3",
) as reply:
    reply.stream_to_file("reply.mp3")`;
}

function livekit(origin, body) {
  const { model, voice, text } = spoken(body);
  return `# pip install "livekit-agents[openai]"
import os

from livekit.agents import Agent, AgentSession, JobContext, WorkerOptions, cli
from livekit.plugins import openai


async def entrypoint(ctx: JobContext):
    await ctx.connect()
    session = AgentSession(
        tts=openai.TTS(
            base_url="${origin}/v1",
            api_key=os.environ["ANTIPHON_KEY"],
            model=${model},
            voice=${voice},
        ),
    )
    await session.start(agent=Agent(instructions="Be brief."), room=ctx.room)
    await session.say(${text})


if __name__ == "__main__":
    cli.run_app(WorkerOptions(entrypoint_fnc=entrypoint))`;
}

function openWebUi(origin, body) {
  const { model, voice } = spoken(body);
  return `# In a container, 127.0.0.1 is the container itself: use an address of this machine instead.
# The same settings in the interface: Admin Panel, Settings, Audio, Text-to-Speech, engine OpenAI.
docker run -d -p 3000:8080 \\
  -e AUDIO_TTS_ENGINE=openai \\
  -e AUDIO_TTS_OPENAI_API_BASE_URL=${origin}/v1 \\
  -e AUDIO_TTS_OPENAI_API_KEY="$ANTIPHON_KEY" \\
  -e AUDIO_TTS_MODEL=${model} \\
  -e AUDIO_TTS_VOICE=${voice} \\
  -v open-webui:/app/backend/data ghcr.io/open-webui/open-webui:main`;
}

function homeAssistant(origin, body) {
  const { voice, text } = spoken(body);
  return `# Home Assistant uses the Wyoming protocol. On Antiphon's machine, open a port with its own key:
#   (umask 077; npx antiphon keys create --label home | head -n 1 > wyoming.key)
#   ANTIPHON_WYOMING_KEY_FILE=wyoming.key npx antiphon serve --wyoming 0.0.0.0:10200
# Then add the integration "Wyoming Protocol": host ${new URL(origin).hostname}, port 10200. In a script:
action: tts.speak
target:
  entity_id: tts.antiphon
data:
  media_player_entity_id: media_player.living_room
  message: ${text}
  options:
    voice: ${voice}`;
}
