import type { Command } from "commander";
import type { Tenancy } from "../accounts/tenancy.ts";
import { UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, table } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

interface CreateOptions {
  readonly label: string;
  readonly rpm?: string;
  readonly burst?: string;
  readonly json?: boolean;
}

/** Registers `antiphon keys create|list|revoke`. A running server applies changes at once. */
export function registerKeys(program: Command, io: CommandIo): void {
  const keys = addGlobalOptions(program.command("keys")).description("create, list and revoke API keys");

  addGlobalOptions(keys.command("create"))
    .description("create a key and print it, this once")
    .requiredOption("--label <text>", "whose key it is")
    .option("--rpm <n>", "requests a minute that it may sustain (default: the setting defaultKeyRpm)")
    .option("--burst <n>", "requests that it may make at once (default: the setting defaultKeyBurst)")
    .option("--json", "print JSON")
    .action(async (options: CreateOptions, command: Command) => create(options, command, io));

  addGlobalOptions(keys.command("list"))
    .description("list the keys, including revoked ones")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }, command: Command) => list(json === true, command, io));

  addGlobalOptions(keys.command("revoke"))
    .description("revoke a key: it is refused from the next request on")
    .argument("<key_id>", "as `antiphon keys list` prints it")
    .action(async (keyId: string, _options: object, command: Command) => revoke(keyId, command, io));
}

async function create(
  { label, rpm, burst, json }: CreateOptions,
  command: Command,
  io: CommandIo,
): Promise<void> {
  const given = {
    rpm: rpm === undefined ? null : wholeNumber("--rpm", rpm),
    burst: burst === undefined ? null : wholeNumber("--burst", burst),
  };
  const settings = await settingsOf(command, io);
  const { newKeyProblem } = await import("../accounts/api-key.ts");
  const { defaultKeyRpm, defaultKeyBurst } = settings;
  const wanted = { label, rpm: given.rpm ?? defaultKeyRpm, burst: given.burst ?? defaultKeyBurst };
  const problem = newKeyProblem(wanted);
  if (problem !== null) throw new UsageError(problem);
  await withTenancy(settings, io, async (tenancy) => {
    const { key, record } = await tenancy.createKey(wanted);
    const { keyId } = record;
    io.stdout.write(
      json === true
        ? `${JSON.stringify({ key, key_id: keyId, ...wanted })}\n`
        : `${key}\nKey ${keyId} (${label}): ${wanted.rpm} requests a minute, ${wanted.burst} at once.\nKeep it now: it is not shown again.\n`,
    );
  });
}

async function list(json: boolean, command: Command, io: CommandIo): Promise<void> {
  await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
    const keys = (await tenancy.listKeys()).map(({ keyId, label, rpm, burst, createdTsS, revokedTsS }) => ({
      key_id: keyId,
      label,
      rpm,
      burst,
      created_ts: createdTsS,
      revoked_ts: revokedTsS,
    }));
    const rows = keys.map((key) => [
      key.key_id,
      key.label,
      `${key.rpm}`,
      `${key.burst}`,
      time(key.created_ts),
      key.revoked_ts === null ? "" : time(key.revoked_ts),
    ]);
    io.stdout.write(
      json
        ? `${JSON.stringify(keys)}\n`
        : table(["KEY_ID", "LABEL", "RPM", "BURST", "CREATED", "REVOKED"], rows, io.stdout),
    );
  });
}

async function revoke(keyId: string, command: Command, io: CommandIo): Promise<void> {
  await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
    if (!(await tenancy.revokeKey(keyId))) {
      const named = (await tenancy.listKeys()).filter(
        ({ label, revokedTsS }) => label === keyId && revokedTsS === null,
      );
      const meant = named.map((key) => `antiphon keys revoke ${key.keyId}`).join(" or ");
      const remedy =
        meant === "" ? "see antiphon keys list" : `it is the label of a key, to revoke which say ${meant}`;
      throw new Error(`There is no key ${JSON.stringify(keyId)}: ${remedy}.`);
    }
    io.stdout.write(`Key ${keyId} is revoked: it is refused from now on.\n`);
  });
}

/** Opens the tenancy of the settings while `work` runs. */
export async function withTenancy<T>(
  settings: Settings,
  { env }: CommandIo,
  work: (tenancy: Tenancy) => Promise<T>,
): Promise<T> {
  const { openTenancy } = await import("../accounts/open.ts");
  const { storeUrl } = await import("../server/secret.ts");
  const tenancy = await openTenancy(settings, { storeUrl: storeUrl(settings, env) });
  try {
    return await work(tenancy);
  } finally {
    await tenancy.close();
  }
}

function wholeNumber(flag: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(
    `The flag ${flag} is ${JSON.stringify(text)}, but it takes a whole number: correct it.`,
  );
}

function time(tsS: number): string {
  return new Date(tsS * 1_000).toISOString();
}
