import fc from "../properties.ts";

/** Any string there can be: every code unit, with halves of surrogate pairs in and out of order. */
export function anyText(maxLength = 60): fc.Arbitrary<string> {
  const unit = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 0xd800, max: 0xdbff }),
    fc.integer({ min: 0xdc00, max: 0xdfff }),
    fc.constantFrom(0, 0x0a, 0x0d, 0x20, 0x22, 0x3a, 0x5c, 0x2028, 0x2029, 0xfeff),
  );
  return fc.array(unit, { maxLength }).map((units) => String.fromCharCode(...units));
}
