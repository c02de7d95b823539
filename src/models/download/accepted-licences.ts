import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../../core/replace-file.ts";
import { asDiskError, onDisk } from "./disk.ts";
import type { PullOptions } from "./options.ts";
import { isAbsent, PullError } from "./pull-error.ts";

/** A licence to be accepted. */
export interface LicenceQuestion {
  readonly repository: string;
  /** The hub's name for it, or "not stated". */
  readonly licence: string;
  readonly licenceUrl: string;
  readonly file: string;
  readonly sizeBytes: number;
}

export interface HubPullOptions extends PullOptions {
  /** Asks the user to accept a licence; called once per repository and licence. */
  readonly acceptLicence: (question: LicenceQuestion) => Promise<boolean>;
}

const Acceptance = Type.Object({
  repository: Type.String(),
  licence: Type.String(),
  /** ISO 8601. */
  accepted_at: Type.String(),
});

const AcceptedLicences = Type.Object({ accepted: Type.Array(Acceptance) });

/**
 * Asks for a licence to be accepted, and remembers the answer in the data directory.
 *
 * @throws PullError if it is declined or the disk fails
 */
export async function requireAcceptedLicence(
  question: LicenceQuestion,
  { dataDir, acceptLicence }: HubPullOptions,
): Promise<void> {
  const { repository, licence, licenceUrl } = question;
  const path = join(dataDir, "licences.json");
  const isAccepted = (recorded: Static<typeof AcceptedLicences>) =>
    recorded.accepted.some(
      (one) => one.licence === licence && one.repository.toLowerCase() === repository.toLowerCase(),
    );
  if (isAccepted(await readAccepted(path))) return;
  if (!(await acceptLicence(question))) {
    throw new PullError(
      `The licence of ${repository} was not accepted (${licence}, ${licenceUrl}): nothing was fetched.`,
    );
  }
  // Another process may have recorded others meanwhile.
  const book = await readAccepted(path);
  if (isAccepted(book)) return;
  const accepted = [...book.accepted, { repository, licence, accepted_at: new Date().toISOString() }];
  await onDisk(path, async () => {
    await mkdir(dataDir, { recursive: true });
    await writeJson(path, { accepted });
  });
}

async function readAccepted(path: string): Promise<Static<typeof AcceptedLicences>> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isAbsent(error)) return '{"accepted":[]}';
    throw asDiskError(error, path);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (Check(AcceptedLicences, value)) return value;
  } catch {
    // Reported below.
  }
  throw new PullError(
    `${path} is not a valid list of accepted licences: fix it, or delete it to be asked again.`,
  );
}
