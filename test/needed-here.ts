/** How a test is skipped for what is missing here, if anything is. Where everything has to be tested, that is an error. */
export function neededHere(missing: string | null): { readonly skip: string | false } {
  if (missing !== null && process.env.CI) throw new Error(missing);
  return { skip: missing ?? false };
}
