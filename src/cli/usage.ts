import type { Command } from "commander";
import type { UsageTotals } from "../accounts/tenancy.ts";
import type { UsageSummary } from "../contract/replies.ts";
import { withTenancy } from "./keys.ts";
import { type CommandIo, table } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

/** Registers `antiphon usage [KEY_ID]`, with the totals of `/v1/usage`. */
export function registerUsage(program: Command, io: CommandIo): void {
  addGlobalOptions(program.command("usage"))
    .description("print the total usage of one key or of all keys")
    .argument("[key_id]", "id from `antiphon keys list`")
    .option("--json", "print JSON: an object for one key, an array for all")
    .action(async (keyId: string | undefined, { json }: { json?: boolean }, command: Command) => {
      await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
        const all = (await tenancy.allUsage()).map(summaryOf);
        const asked = keyId === undefined ? all : all.filter((summary) => summary.key_id === keyId);
        if (keyId !== undefined && asked.length === 0) {
          throw new Error(`There is no key ${JSON.stringify(keyId)}: see antiphon keys list.`);
        }
        const value = keyId === undefined ? asked : asked[0];
        io.stdout.write(json === true ? `${JSON.stringify(value)}\n` : table(HEADING, asked.map(rowOf)));
      });
    });
}

const HEADING = ["KEY_ID", "REQUESTS", "CHARS IN", "AUDIO IN, S", "AUDIO OUT, S", "LAST REQUEST"];

function summaryOf(totals: UsageTotals): UsageSummary {
  return {
    key_id: totals.keyId,
    requests: totals.requests,
    input_chars: totals.inputChars,
    input_audio_seconds: totals.inputAudioS,
    output_audio_seconds: totals.outputAudioS,
    last_request_ts: totals.lastRequestTsS,
  };
}

function rowOf(summary: UsageSummary): string[] {
  const { last_request_ts: lastTsS } = summary;
  return [
    summary.key_id,
    `${summary.requests}`,
    `${summary.input_chars}`,
    summary.input_audio_seconds.toFixed(2),
    summary.output_audio_seconds.toFixed(2),
    lastTsS === null ? "" : new Date(lastTsS * 1_000).toISOString(),
  ];
}
