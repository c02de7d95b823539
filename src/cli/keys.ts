import type { Command } from "commander";
import type { KeyChanges, KeyRecord, Tenancy } from "../accounts/tenancy.ts";
import { UsageError } from "../server/errors.ts";
import type { Settings } from "../settings/schema.ts";
import { type CommandIo, table } from "./terminal/command-io.ts";
import { addGlobalOptions, settingsOf } from "./terminal/global-options.ts";

interface CreateOptions extends KeyChanges {
  readonly label: string;
  readonly json?: boolean;
}

/** Registers `antiphon keys create|list|update|revoke`. A running server applies changes at once. */
export function registerKeys(program: Command, io: CommandIo): void {
  const keys = addGlobalOptions(program.command("keys")).description(
    "create, list, change and revoke API keys",
  );

  const addLimits = (command: Command, rpm = "", burst = ""): Command =>
    command
      .option("--rpm <n>", `requests per minute${rpm}`, (n) => wholeNumber("--rpm", n))
      .option("--burst <n>", `requests at once${burst}`, (n) => wholeNumber("--burst", n));

  const creating = addGlobalOptions(keys.command("create"))
    .description("create a key and print it once")
    .requiredOption("--label <text>", "name of the key");
  addLimits(creating, " (default: the setting defaultKeyRpm)", " (default: the setting defaultKeyBurst)")
    .option("--json", "print JSON")
    .action(async (options: CreateOptions, command: Command) => create(options, command, io));

  addGlobalOptions(keys.command("list"))
    .description("list all keys, including revoked ones")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }, command: Command) => list(json === true, command, io));

  addLimits(addGlobalOptions(keys.command("update")))
    .description("change a key, from its next request on")
    .argument("<key_id>", "id from `antiphon keys list`")
    .option("--label <text>", "name of the key")
    .action(async (id: string, given: KeyChanges, command: Command) => update(id, given, command, io));

  addGlobalOptions(keys.command("revoke"))
    .description("revoke a key, from its next request on")
    .argument("<key_id>", "id from `antiphon keys list`")
    .action(async (keyId: string, _options: object, command: Command) => revoke(keyId, command, io));
}

async function create(
  { label, rpm, burst, json }: CreateOptions,
  command: Command,
  io: CommandIo,
): Promise<void> {
  const settings = await settingsOf(command, io);
  const wanted = { label, rpm: rpm ?? settings.defaultKeyRpm, burst: burst ?? settings.defaultKeyBurst };
  await requireValid(wanted);
  await withTenancy(settings, io, async (tenancy) => {
    const { key, record } = await tenancy.createKey(wanted);
    io.stdout.write(
      json === true
        ? `${JSON.stringify({ key, key_id: record.keyId, ...wanted })}\n`
        : `${key}\n${describeKey(record)}\nKeep it now: it is not shown again.\n`,
    );
  });
}

async function update(keyId: string, given: KeyChanges, command: Command, io: CommandIo): Promise<void> {
  const changes = { label: given.label, rpm: given.rpm, burst: given.burst };
  if (Object.values(changes).every((value) => value === undefined))
    throw new UsageError("There is nothing to change: give --label, --rpm or --burst.");
  await requireValid(changes);
  await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
    const record = await tenancy.updateKey(keyId, changes);
    if (record === null) throw await noSuchKey(tenancy, keyId, "update");
    io.stdout.write(`${describeKey(record)}\n`);
  });
}

async function requireValid(changes: KeyChanges): Promise<void> {
  const { keyProblem } = await import("../accounts/api-key.ts");
  const problem = keyProblem(changes);
  if (problem !== null) throw new UsageError(problem);
}

function describeKey({ keyId, label, rpm, burst }: KeyRecord): string {
  return `Key ${keyId} (${label}): ${rpm} requests a minute, ${burst} at once.`;
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
    const rows = keys.map(({ key_id, label, rpm, burst, created_ts, revoked_ts }) => {
      const revoked = revoked_ts === null ? "" : time(revoked_ts);
      return [key_id, label, `${rpm}`, `${burst}`, time(created_ts), revoked];
    });
    io.stdout.write(
      json
        ? `${JSON.stringify(keys)}\n`
        : table(["KEY_ID", "LABEL", "RPM", "BURST", "CREATED", "REVOKED"], rows, io.stdout),
    );
  });
}

async function revoke(keyId: string, command: Command, io: CommandIo): Promise<void> {
  await withTenancy(await settingsOf(command, io), io, async (tenancy) => {
    if (!(await tenancy.revokeKey(keyId))) throw await noSuchKey(tenancy, keyId, "revoke");
    io.stdout.write(`Key ${keyId} is revoked: it is refused from now on.\n`);
  });
}

/** Returns the error for a key that cannot be changed: revoked, unknown, or named by its label. */
async function noSuchKey(tenancy: Tenancy, keyId: string, verb: "update" | "revoke"): Promise<Error> {
  const keys = await tenancy.listKeys();
  if (keys.some((key) => key.keyId === keyId)) return new Error(`The key ${keyId} is revoked: make another.`);
  const labelled = keys.filter(({ label, revokedTsS }) => label === keyId && revokedTsS === null);
  const commands = labelled.map((key) => `antiphon keys ${verb} ${key.keyId}`).join(" or ");
  const remedy = commands === "" ? "see antiphon keys list" : `it is a label, not an id; run ${commands}`;
  return new Error(`There is no key ${JSON.stringify(keyId)}: ${remedy}.`);
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
