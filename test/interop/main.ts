// Tests the server with published third-party clients: `npm run interop [NAME ...] [-- --keep FOLDER]`. Each client is
// installed into a temporary folder, or into FOLDER. Clients that cannot be installed are skipped; exit code 69: all were.

import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import { TOP } from "../architecture/top.ts";
import { lastLines, run } from "./child.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { checkCall, checkConversation, checkHeard, userTurn } from "./conversation.ts";
import { DECODERS, tryDecoders } from "./decoders.ts";
import { type Environment, openPlace, type Place, UNAVAILABLE } from "./environment.ts";
import { Ledger, type Tell } from "./ledger.ts";
import { checkReport, RECORDED, reportsIn, TRANSCRIPT } from "./reports.ts";
import { type SteadyServer, startSteadyServer } from "./steady-server.ts";

/** Modules that the scripts import. */
const HELPERS = ["report.py", "report.mjs", "user.py", "user.mjs"];
const TURN = "turn.wav";
const CLIENT_LIMIT_S = 120;
/** Concurrent installations. */
const INSTALLERS = 2;

const { values, positionals } = parseArgs({ options: { keep: { type: "string" } }, allowPositionals: true });
const names = [...CLIENTS.map(({ name }) => name), DECODERS];
const unknown = positionals.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`There is no client "${unknown}": name some of ${names.join(", ")}, or none for all.`);
  process.exit(2);
}
const isWanted = (name: string) => positionals.length === 0 || positionals.includes(name);

const ledger = new Ledger();
const place = await openPlace(values.keep);
const server = await startSteadyServer();
try {
  const recording = join(place.folder, "recording.wav");
  await writeFile(recording, encodeWav(toPcm16(await server.spoken(RECORDED, "0", 24_000)), 24_000));
  await writeFile(join(place.folder, TURN), await userTurn());
  const clients = CLIENTS.filter(({ name }) => isWanted(name));
  const prepared = prepareAll(clients, place);
  if (isWanted(DECODERS)) {
    await ledger.part(DECODERS, (tell) => tryDecoders(server, tell));
  }
  for (const [index, client] of clients.entries()) {
    const { outcome, seconds } = await prepared[index]!;
    const heading = `${client.name}, installed in ${seconds.toFixed(0)} s`;
    await ledger.part(heading, (tell) => tryClient(client, outcome, recording, tell));
  }
} finally {
  await server.stop();
  await place.close();
}
const { passed, failed, skipped } = ledger;
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 ? 1 : passed === 0 ? UNAVAILABLE : 0);

interface Prepared {
  readonly outcome: Environment | Error;
  readonly seconds: number;
}

/** Installs each environment once, in order and some at a time. */
function prepareAll(clients: readonly Client[], within: Place): Promise<Prepared>[] {
  const prepared = new Map<string, Promise<Prepared>>();
  for (const client of clients) {
    if (prepared.has(client.environment)) continue;
    const before = [...prepared.values()].at(-INSTALLERS);
    const isFree = prepared.size < INSTALLERS ? Promise.resolve() : before;
    prepared.set(
      client.environment,
      Promise.resolve(isFree).then(() => prepare(client, within)),
    );
  }
  return clients.map(({ environment }) => prepared.get(environment)!);
}

async function prepare(client: Client, within: Place): Promise<Prepared> {
  const began = performance.now();
  const outcome = await client.prepare(within).catch((error: Error) => error);
  return { outcome, seconds: (performance.now() - began) / 1_000 };
}

async function tryClient(
  client: Client,
  environment: Environment | Error,
  recording: string,
  tell: Tell,
): Promise<void> {
  if (environment instanceof Error) {
    return tell("its packages", () => Promise.reject(environment));
  }
  const { folder, command } = environment;
  for (const name of HELPERS) await copyFile(join(TOP, "test", "interop", name), join(folder, name));
  await copyFile(join(client.folder, client.script), join(folder, client.script));
  const clips = server.recogniser.clips.length;
  const asked = server.chat.exchanges.length;
  const [program, ...args] = command;
  const { code, stdout, stderr } = await run(program, [...args, client.script], {
    cwd: folder,
    env: environmentOf(server, folder, recording),
    limitS: CLIENT_LIMIT_S,
  });
  const heard = server.recogniser.clips.slice(clips);
  const reports = reportsIn(`${stdout}`);
  for (const report of reports) {
    if (report.kind === "conversation") {
      await tell(report.what, async () => checkConversation(report));
      const exchanges = server.chat.exchanges.slice(asked);
      await tell("what was heard of the reply", async () => checkHeard(exchanges, report));
      await tell("its function", async () => checkCall(report));
    } else {
      await tell(report.what, () => checkReport(report, folder, server, heard));
    }
  }
  if (code === 0 && reports.length > 0) return;
  const end = code === null ? `did not end within ${CLIENT_LIMIT_S} s` : `ended with code ${code}`;
  await tell("to its end", () =>
    Promise.reject(new Error(`it ${end}:\n${lastLines(`${stdout}\n${stderr}`)}`)),
  );
}

/** Passes on only the settings of package registries, with a separate home. */
function environmentOf({ url, wyomingUrl, key }: SteadyServer, home: string, recording: string) {
  const { PATH, NODE_EXTRA_CA_CERTS, npm_config_registry } = process.env;
  return {
    ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    ...(npm_config_registry && { npm_config_registry }),
    PATH,
    HOME: home,
    INTEROP_URL: `${url}/v1`,
    INTEROP_WYOMING_URL: `${wyomingUrl}`,
    INTEROP_KEY: key,
    INTEROP_RECORDING: recording,
    INTEROP_RECORDINGS: join(TOP, "test", "golden", "recordings"),
    INTEROP_TRANSCRIPT: TRANSCRIPT,
    INTEROP_TURN: join(home, "..", TURN),
  };
}
