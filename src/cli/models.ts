import type { Command } from "commander";
import { embeddedCheckpoint, sizeOnDisk } from "../catalogue/embedded-checkpoint.ts";
import { PUBLIC_MODELS } from "../catalogue/public-models.ts";

/** Adds `models list` to the program. */
export function registerModels(program: Command): void {
  const models = program.command("models").description("what is installed, and what speaks for which model");
  models
    .command("list")
    .description("the public models, and the checkpoints that speak for them")
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      const listing = await listModels();
      process.stdout.write(options.json ? `${JSON.stringify(listing, null, 2)}\n` : table(listing));
    });
}

/** What `models list --json` prints. */
export interface ModelListing {
  readonly models: readonly {
    readonly id: string;
    readonly display_name: string;
    readonly default: boolean;
    readonly modes: readonly string[];
    readonly speakers: readonly string[];
    readonly checkpoint: string;
    readonly installed: boolean;
    readonly description: string;
  }[];
  readonly checkpoints: readonly {
    readonly name: string;
    readonly embedded: boolean;
    readonly installed: boolean;
    /** `null` when it is not installed. */
    readonly size_bytes: number | null;
    readonly licence: string;
    readonly path: string;
  }[];
}

async function listModels(): Promise<ModelListing> {
  const { name, dir, licence } = embeddedCheckpoint;
  const sizeBytes = await sizeOnDisk(dir);
  const installed = sizeBytes !== null;
  return {
    models: PUBLIC_MODELS.map(({ card, checkpoint }) => ({
      id: card.id,
      display_name: card.displayName,
      default: card.isDefault,
      modes: card.modes,
      speakers: card.speakers,
      checkpoint,
      installed: installed && checkpoint === name,
      description: card.description,
    })),
    checkpoints: [{ name, embedded: true, installed, size_bytes: sizeBytes, licence, path: dir }],
  };
}

function table({ models, checkpoints }: ModelListing): string {
  const installed = (is: boolean): string => (is ? "installed" : "missing");
  return [
    ...columns([
      ["MODEL", "CHECKPOINT", "STATE", ""],
      ...models.map((model) => [
        model.id,
        model.checkpoint,
        installed(model.installed),
        model.default ? "default" : "",
      ]),
    ]),
    "",
    ...columns([
      ["CHECKPOINT", "STATE", "SIZE", "LICENCE"],
      ...checkpoints.map((checkpoint) => [
        checkpoint.name,
        installed(checkpoint.installed),
        checkpoint.size_bytes === null ? "-" : `${(checkpoint.size_bytes / 1e6).toFixed(1)} MB`,
        checkpoint.licence,
      ]),
    ]),
    "",
  ].join("\n");
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = (index: number): number => Math.max(...rows.map((row) => row[index]?.length ?? 0));
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(width(index)))
      .join("  ")
      .trimEnd(),
  );
}
