/** A host without the default port. */
export const plainHost = (host: string): string => host.toLowerCase().replace(/:(?:80|443)$/, "");

/** The host of a request, in the form of the `Origin` header. */
export function requestHost(request: Request): string {
  return plainHost(request.headers.get("Host") ?? new URL(request.url).host);
}
