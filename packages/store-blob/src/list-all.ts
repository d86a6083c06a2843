import type { ConditionalBlobs, ListedObject } from "./conditional-blobs.ts";

/** Every object whose key starts with the prefix, ascending, page by page. */
export async function* listAll(blobs: ConditionalBlobs, prefix: string, from?: string): AsyncGenerator<ListedObject, void> {
  let after = from;
  for (;;) {
    const page = await blobs.list(prefix, { limit: Number.MAX_SAFE_INTEGER, ...(after === undefined ? {} : { after }) });
    yield* page.objects;
    const last = page.objects.at(-1);
    if (!page.hasMore || !last) return;
    after = last.key;
  }
}
