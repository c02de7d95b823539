import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import type { Settings } from "../settings/schema.ts";
import { addGlobalOptions, settingsOf, WrongCallError } from "./global-options.ts";
import { readInput } from "./read-input.ts";

interface SayFlags {
  readonly output?: string;
  readonly speaker?: string;
  readonly model?: string;
  readonly params?: string;
}

/** `antiphon say TEXT|-`: speaks without a server. */
export function registerSay(program: Command): void {
  addGlobalOptions(program.command("say"))
    .description("speak a text, without a server")
    .argument("<text>", "the text, or - for standard input")
    .option("-o, --output <file>", "WAV file to write (default: standard output, or the loudspeaker)")
    .option("--speaker <label>", "role label (default: 0)")
    .option("--model <id>", "public model id (default: the default model)")
    .option("--params <json>", "generation params, as POST /v1/tts takes them")
    .action(async (argument: string, flags: SayFlags, command: Command) => {
      const text = await readInput(argument);
      const wav = await speak(text, flags, (await settingsOf(command)).readings);
      if (flags.output !== undefined) await writeFile(flags.output, wav);
      else if (process.stdout.isTTY) await (await import("./play.ts")).play(wav);
      else process.stdout.write(wav);
    });
}

async function speak(text: string, flags: SayFlags, readings: Settings["readings"]): Promise<Uint8Array> {
  const { speaker, model } = flags;
  const { parseTtsRequest } = await import("../contract/validate.ts");
  const { prepareTts } = await import("../serving/prepare.ts");
  const { findModel, PUBLIC_MODELS } = await import("../catalogue/public-models.ts");
  const request = parseTtsRequest({
    text,
    ...(speaker === undefined ? {} : { speaker }),
    ...(model === undefined ? {} : { model }),
    ...(flags.params === undefined ? {} : { params: parseParams(flags.params) }),
  });
  const prepared = prepareTts(request, (id) => findModel(PUBLIC_MODELS, id));
  const { openEmbeddedVoice } = await import("./embedded-voice.ts");
  const { scriptOf } = await import("../serving/script-of.ts");
  const { toPcm16 } = await import("../audio/pcm.ts");
  const { encodeWav } = await import("../audio/wav-write.ts");
  const { SAMPLE_RATE_HZ } = await import("../audio/format.ts");
  const voice = await openEmbeddedVoice({ threads: 1, readings });
  try {
    const frames: Int16Array[] = [];
    const script = scriptOf(prepared, prepared.model.preset);
    for await (const { samples } of voice.speak(script, new AbortController().signal)) {
      frames.push(toPcm16(samples));
    }
    return encodeWav(frames, SAMPLE_RATE_HZ);
  } finally {
    await voice.close();
  }
}

function parseParams(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new WrongCallError(`--params is not JSON: write it like '{"temperature": 0}'.`);
  }
}
