const octet = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const loopback4 = new RegExp(`^127(?:\\.${octet}){3}$`);
/** The loopback addresses of IPv6 in the form of `URL`: `::1`, and 127.0.0.0/8 inside IPv6. */
const loopback6 = /^\[(?:::1|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/;

/** True for a numeric address from which only this machine can send. False for names, which may lead anywhere. */
export function isLoopbackAddress(address: string): boolean {
  if (loopback4.test(address)) return true;
  const url = `http://[${address}]/`;
  return address.includes(":") && URL.canParse(url) && loopback6.test(new URL(url).hostname);
}
