/** Names of headers that carry what proves the caller. */
const secretHeader = /auth|cookie|token|secret|key|session|signature|assertion/i;
/** Shorter pieces of a header are words, and replacing them would make the text unreadable. */
const secretLengthMin = 8;

/** What the operator reads of an error of user code; the caller gets none of it. Credentials of the request are replaced. */
export function causeOf(cause: unknown, request?: Request): { readonly cause: string; readonly stack?: string } {
  const secrets = request ? secretsOf(request) : [];
  const clean = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
  if (!(cause instanceof Error)) return { cause: clean(String(cause)) };
  return { cause: clean(`${cause.name}: ${cause.message}`), ...(cause.stack === undefined ? {} : { stack: clean(cause.stack) }) };
}

/** The longest first, so that no part of one stays. */
function secretsOf({ headers }: Request): readonly string[] {
  const values = [...headers].filter(([name]) => secretHeader.test(name)).map(([, value]) => value);
  const pieces = values.flatMap((value) => [value, ...value.split(/[\s;,="]+/)]);
  return [...new Set(pieces)].filter(({ length }) => length >= secretLengthMin).sort((a, b) => b.length - a.length);
}
