import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../../core/replace-file.ts";
import { asDiskError, onDisk } from "./disk.ts";
import type { PullOptions } from "./options.ts";
import { isAbsent, PullError } from "./pull-error.ts";

/** A licence that has yet to be accepted. */
export interface LicenceQuestion {
  readonly repository: string;
  /** As the hub states it, or that it states none. */
  readonly licence: string;
  readonly licenceUrl: string;
  readonly file: string;
  readonly sizeBytes: number;
}

export interface HubPullOptions extends PullOptions {
  /** Shows a licence to whoever pulls: true when it is accepted. Asked once for each repository and licence. */
  readonly acceptLicence: (question: LicenceQuestion) => Promise<boolean>;
}

/** A licence that somebody has accepted for a repository of the hub. */
const Acceptance = Type.Object({
  repository: Type.String(),
  licence: Type.String(),
  /** ISO 8601. */
  accepted_at: Type.String(),
});

const AcceptedLicences = Type.Object({ accepted: Type.Array(Acceptance) });

/**
 * Has a licence accepted, unless it was in this data directory, and remembers it.
 *
 * @throws PullError when it is not accepted, or the disk fails.
 */
export async function requireAcceptedLicence(
  question: LicenceQuestion,
  { dataDir, acceptLicence }: HubPullOptions,
): Promise<void> {
  const { repository, licence, licenceUrl } = question;
  const path = join(dataDir, "licences.json");
  const isAccepted = (book: Static<typeof AcceptedLicences>) =>
    book.accepted.some(
      (one) => one.licence === licence && one.repository.toLowerCase() === repository.toLowerCase(),
    );
  if (isAccepted(await readAccepted(path))) return;
  if (!(await acceptLicence(question))) {
    throw new PullError(
      `The licence of ${repository} was not accepted (${licence}, ${licenceUrl}): nothing was fetched.`,
    );
  }
  // Somebody may have accepted others while this one was read.
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
    // Said below.
  }
  throw new PullError(
    `${path} does not say which licences were accepted: mend it, or remove it and be asked again.`,
  );
}
