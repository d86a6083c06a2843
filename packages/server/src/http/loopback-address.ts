const octet = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const loopback4 = new RegExp(`^127(?:\\.${octet}){3}$`);
/** As `URL` writes an IPv6 address: `::1`, and 127.0.0.0/8 inside IPv6. */
const loopback6 = /^\[(?:::1|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/;

/** True for a numeric address that only this machine can send from. Names are not addresses: they could lead anywhere. */
export function isLoopbackAddress(address: string): boolean {
  if (loopback4.test(address)) return true;
  const url = `http://[${address}]/`;
  return address.includes(":") && URL.canParse(url) && loopback6.test(new URL(url).hostname);
}
