type Fetch = typeof globalThis.fetch;

/** Sends the `traceparent` of the work that runs now with requests to these hosts, and to no other. */
export function tracedFetch(
  fetch: Fetch,
  { hosts, traceparent }: { readonly hosts: readonly string[]; readonly traceparent: () => string | undefined },
): Fetch {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  return (input, init) => {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const header = allowed.has(host) ? traceparent() : undefined;
    if (header === undefined) return fetch(input, init);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    headers.set("traceparent", header);
    return fetch(input, { ...init, headers });
  };
}
