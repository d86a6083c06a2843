import { isIPv4, isIPv6 } from "node:net";

/** Blocks of IPv4 that are not global unicast, from the IANA registry of special-purpose addresses. */
const special4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Not special by the registry: the host of a virtual machine at Azure.
  ["168.63.129.16", 32],
];

/** Blocks within 2000::/3 that are not global unicast, or that carry an IPv4 address in them. Everything outside of 2000::/3 is refused anyway. */
const special6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
];

const blocks4 = special4.map(([address, length]) => [value4(address), length] as const);
const blocks6 = special6.map(([address, length]) => [value6(address), length] as const);
const global6 = [value6("2000::"), 3] as const;

/** Whether the address is global unicast, so that no machine of this network answers at it. False for what is no IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) {
    const value = value4(address);
    return !blocks4.some(([block, length]) => value >> BigInt(32 - length) === block >> BigInt(32 - length));
  }
  if (!isIPv6(address) || address.includes("%")) return false;
  const value = value6(address);
  const isIn = ([block, length]: readonly [bigint, number]): boolean => value >> BigInt(128 - length) === block >> BigInt(128 - length);
  return isIn(global6) && !blocks6.some(isIn);
}

/** Whether the address is link-local: where clouds serve the credentials of a machine. No option allows it. */
export function isLinkLocalAddress(address: string): boolean {
  if (isIPv4(address)) return value4(address) >> 16n === value4("169.254.0.0") >> 16n;
  if (!isIPv6(address)) return false;
  const value = value6(address.replace(/%.*$/, ""));
  // An IPv4 address in the form ::ffff:a.b.c.d.
  if (value >> 32n === 0xffffn) return (value & 0xffffffffn) >> 16n === value4("169.254.0.0") >> 16n;
  return value >> 118n === value6("fe80::") >> 118n || value >> 32n === value6("fd00:ec2::") >> 32n;
}

function value4(address: string): bigint {
  return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function value6(address: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const plain = dotted ? `${dotted[1]}${groupsOf4(dotted[2] ?? "")}` : address;
  const [left = "", right] = plain.split("::");
  const head = left === "" ? [] : left.split(":");
  const tail = right === undefined || right === "" ? [] : right.split(":");
  const zeros = new Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function groupsOf4(address: string): string {
  const value = value4(address);
  return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}
