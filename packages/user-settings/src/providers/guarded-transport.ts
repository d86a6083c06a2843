/** How servers that users name are reached: `guardedTransport` of `/node`. */
export interface GuardedTransport {
  /** The base URL, checked and looked up. @throws AgentError with `details.reason` when it may not be reached */
  admit(url: string): Promise<URL>;
  /** Connects to checked addresses alone; follows no redirect. */
  readonly fetch: typeof globalThis.fetch;
}
