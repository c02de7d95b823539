import type { Command } from "commander";
import { embeddedCheckpoint, sizeOnDisk } from "../catalogue/embedded-checkpoint.ts";
import { PUBLIC_MODELS } from "../catalogue/public-models.ts";
import { addGlobalOptions } from "./global-options.ts";
import { table } from "./table.ts";

/** `antiphon models list`: what is installed, and what speaks for which model. */
export function registerModels(program: Command): void {
  const models = addGlobalOptions(program.command("models")).description("what is installed");

  addGlobalOptions(models.command("list"))
    .description("list the public models, and the checkpoints that speak for them")
    .option("--json", "print JSON")
    .action(async ({ json }: { json?: boolean }) => {
      const listing = await listModels();
      process.stdout.write(json === true ? `${JSON.stringify(listing)}\n` : printed(listing));
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

function printed({ models, checkpoints }: ModelListing): string {
  const state = (isInstalled: boolean) => (isInstalled ? "installed" : "missing");
  const modelRows = models.map((model) => [
    model.id,
    model.checkpoint,
    state(model.installed),
    model.default ? "yes" : "",
  ]);
  const checkpointRows = checkpoints.map(({ name, installed, size_bytes, licence }) => [
    name,
    state(installed),
    size_bytes === null ? "" : `${(size_bytes / 1e6).toFixed(1)} MB`,
    licence,
  ]);
  return `${table(["MODEL", "CHECKPOINT", "STATE", "DEFAULT"], modelRows)}\n${table(
    ["CHECKPOINT", "STATE", "SIZE", "LICENCE"],
    checkpointRows,
  )}`;
}
