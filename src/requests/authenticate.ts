import type { BucketReading, Key, Tenancy } from "../accounts/tenancy.ts";
import { ServiceError } from "../contract/errors.ts";
import { overRate } from "../limits/capacity-errors.ts";

/**
 * The key that a client presents, `null` being none. A failure draws from the bucket of the client's address.
 *
 * @param options `onReading` gets what is left in that bucket after a failure; `missing` is the 401 message without a key
 * @throws ServiceError 401 where the key is not good, 429 where the address has failed too often
 */
export async function authenticate(
  tenancy: Pick<Tenancy, "authenticate" | "takeAnonymous" | "explainKey">,
  presented: string | null,
  address: string,
  {
    onReading = () => {},
    missing = "the API key is missing: send it as Authorization: Bearer <API_KEY> or as X-API-Key",
  }: { readonly onReading?: (reading: BucketReading) => void; readonly missing?: string } = {},
): Promise<Key> {
  const key = presented === null ? null : await tenancy.authenticate(presented);
  if (key !== null) return key;
  const reading = tenancy.takeAnonymous(address);
  onReading(reading);
  if (!reading.allowed) throw overRate(reading, "too many requests without a valid key from this address");
  throw new ServiceError(401, presented === null ? missing : tenancy.explainKey(presented));
}
