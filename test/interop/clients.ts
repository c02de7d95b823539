import { join } from "node:path";
import { TOP } from "../architecture/top.ts";
import { type Environment, nodeEnvironment, type Place, pythonEnvironment } from "./environment.ts";

/** A third-party client and its script. */
export interface Client {
  readonly name: string;
  readonly folder: string;
  readonly script: string;
  /** Clients with the same environment are installed once. */
  readonly environment: string;
  prepare(place: Place): Promise<Environment>;
}

const FOLDER = join(TOP, "test", "interop");

/** Every client, the quickest to install first. */
export const CLIENTS: readonly Client[] = [
  inNode("openai-node-6", "openai-node", "package-6.json"),
  inNode("openai-node-7", "openai-node", "package-7.json"),
  inNode("ai-sdk-3", "ai-sdk", "package-3.json"),
  inNode("ai-sdk-4", "ai-sdk", "package-4.json"),
  inPython("wyoming"),
  inPython("openai-python"),
  inNode("livekit-node"),
  inPython("livekit-python"),
  inPython("pipecat"),
  talking(inNode("openai-node-6", "openai-node", "package-6.json")),
  talking(inNode("openai-node-7", "openai-node", "package-7.json")),
  talking(inPython("openai-python")),
  talking(inNode("agents-realtime")),
  talking(inPython("livekit-python")),
  talking(inPython("pipecat")),
  streaming(inPython("livekit-python")),
  streaming(inPython("pipecat")),
];

/** The same package in a spoken conversation. */
function talking(client: Client): Client {
  const name = `${client.name.replace(/-realtime$/, "")}-realtime`;
  return { ...client, name, script: client.script.replace("client", "realtime") };
}

/** The same framework's client of ElevenLabs' WebSocket. */
function streaming(client: Client): Client {
  return { ...client, name: `${client.name}-elevenlabs`, script: "elevenlabs.py" };
}

function inPython(name: string): Client {
  const folder = join(FOLDER, name);
  const pins = join(folder, "requirements.txt");
  return {
    name,
    environment: name,
    folder,
    script: "client.py",
    prepare: (place) => pythonEnvironment(place, name, pins),
  };
}

function inNode(name: string, folderName = name, packages = "package.json"): Client {
  const folder = join(FOLDER, folderName);
  const pins = join(folder, packages);
  return {
    name,
    environment: name,
    folder,
    script: "client.mjs",
    prepare: (place) => nodeEnvironment(place, name, pins),
  };
}
