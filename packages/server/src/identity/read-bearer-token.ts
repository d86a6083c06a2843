/** A longer header holds no token: it is neither decoded nor compared nor passed on. */
const lengthMax = 16 * 1024;

/** The token of `Authorization: Bearer <token>`, of at most 16 KiB; `undefined`: there is none. */
export function bearerToken(request: Request): string | undefined {
  const header = request.headers.get("Authorization") ?? "";
  return header.length > lengthMax ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}
