import { isIPv4, isIPv6, SocketAddress } from "node:net";

/**
 * Whom an address stands for when guesses are counted: itself for IPv4 (also when written as IPv6), its /64 for IPv6,
 * since a network hands those out whole. What is no address counts as one group, `unknown`.
 */
export function addressGroup(address: string): string {
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return "unknown";
  const plain = new SocketAddress({ address: address.replace(/%.*$/, ""), family: "ipv6" }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain);
  if (mapped?.[1] !== undefined) return mapped[1];
  return `${network64(plain)}::/64`;
}

function network64(canonical: string): string {
  const [head = "", tail] = canonical.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groupsAfter = after.length + (tail?.includes(".") ? 1 : 0);
  const zeros = Array<string>(8 - before.length - groupsAfter).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
