import type { BucketReading, Key, Tenancy } from "../accounts/tenancy.ts";
import { overRate } from "../limits/capacity-errors.ts";
import type { SpeechService } from "../serving/reply/speech-service.ts";

/** What a request is asked of before anything of it is read. */
export interface AdmitOptions {
  /** Whether it wants something spoken: a full queue for that refuses it. */
  readonly speaks: boolean;
  /** What its caller is told whose key has no token left. */
  readonly overRate: string;
  /** Is told what is left in the key's bucket. */
  readonly onReading?: (reading: BucketReading) => void;
}

/**
 * Takes one of a key's tokens, and asks whether there is room for one more request of it.
 *
 * @throws ServiceError 429 or 502, with the time after which to try again
 */
export async function admit(
  key: Key,
  { tenancy, service }: { tenancy: Pick<Tenancy, "take">; service: Pick<SpeechService, "refusalFor"> },
  { speaks, overRate: why, onReading = () => {} }: AdmitOptions,
): Promise<void> {
  const reading = await tenancy.take(key);
  onReading(reading);
  if (!reading.allowed) throw overRate(reading, why);
  const refusal = speaks ? service.refusalFor(key.keyId) : null;
  if (refusal !== null) throw refusal;
}
