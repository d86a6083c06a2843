import { digestId } from "@loopwright/server";

/** Requests that are remembered; the oldest are forgotten first. */
const rememberedMax = 1_000;
/** How long an SDK may take to send a request again, in milliseconds: its own limit of time for one request. */
const retryMs = 600_000;

/**
 * Finds the key of a request that an SDK of OpenAI sends again by itself: it has no key of its own then, only a count of retries in its headers. The first
 * request gets a new key, and the retries of the same body by the same user get that one, so that they join its run. Within this process alone.
 */
export class SdkRetries {
  readonly #keys = new Map<string, { readonly key: string; readonly at: number }>();

  async keyOf(request: Request, { user, body }: { readonly user: string; readonly body: unknown }): Promise<string> {
    const content = await digestId(user, JSON.stringify(body));
    const known = this.#keys.get(content);
    const isRetry = Number(request.headers.get("x-stainless-retry-count") ?? 0) > 0;
    if (isRetry && known && Date.now() - known.at < retryMs) return known.key;
    const key = crypto.randomUUID();
    this.#keys.delete(content);
    this.#keys.set(content, { key, at: Date.now() });
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= rememberedMax) break;
      this.#keys.delete(oldest);
    }
    return key;
  }
}
