import { isIPv4, isIPv6, SocketAddress } from "node:net";

/**
 * Returns the network that an address belongs to. With 4 `parts`: the IPv4 address (also if mapped to IPv6) or the
 * IPv6 /64. With 3: the /24 or /48, the usual size of a rented block. Anything else is `unknown`.
 */
export function addressGroup(address: string, parts: 3 | 4 = 4): string {
  if (isIPv4(address)) return parts === 4 ? address : `${address.split(".").slice(0, parts).join(".")}.0/24`;
  if (!isIPv6(address)) return "unknown";
  const plain = new SocketAddress({ address: address.replace(/%.*$/, ""), family: "ipv6" }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  if (mapped?.[1] !== undefined) return addressGroup(mapped[1], parts);
  return `${firstParts(plain, parts)}::/${16 * parts}`;
}

function firstParts(canonical: string, parts: number): string {
  const [head = "", tail] = canonical.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groupsAfter = after.length + (tail?.includes(".") ? 1 : 0);
  const zeros = Array<string>(8 - before.length - groupsAfter).fill("0");
  return [...before, ...zeros, ...after].slice(0, parts).join(":");
}
