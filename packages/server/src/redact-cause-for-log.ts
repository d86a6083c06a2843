/** Names of headers with credentials. */
const secretHeader = /auth|cookie|token|secret|key|session|signature|assertion/i;
/** Shorter parts of a header are ordinary words, and replacing them would make the text unreadable. */
const secretLengthMin = 8;

/** An error of user code in the form for the operator's log, with the credentials of the request replaced. The caller gets none of it. */
export function redactedCause(cause: unknown, request?: Request): { readonly cause: string; readonly stack?: string } {
  const secrets = request ? secretsOf(request) : [];
  const clean = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
  if (!(cause instanceof Error)) return { cause: clean(String(cause)) };
  return { cause: clean(`${cause.name}: ${cause.message}`), ...(cause.stack === undefined ? {} : { stack: clean(cause.stack) }) };
}

/** The credentials, the longest first, so that a credential is replaced before the parts of it. */
function secretsOf({ headers }: Request): readonly string[] {
  const values = [...headers].filter(([name]) => secretHeader.test(name)).map(([, value]) => value);
  const pieces = values.flatMap((value) => [value, ...value.split(/[\s;,="]+/)]);
  return [...new Set(pieces)].filter(({ length }) => length >= secretLengthMin).sort((a, b) => b.length - a.length);
}
