import type { SessionStore } from "@loopwright/core/ports";
import { fileNoteName } from "@loopwright/core/stores";
import type { KnownFile } from "../../server-options.ts";
import { notePrefix, readNote } from "./file-metadata.ts";

/** About the most files that are checked for one page. */
const lookedAtMax = 1_000;

export interface KeptFilesQuery {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** True if the page may have the file. Default: all files. */
  readonly isSeen?: (file: KnownFile) => boolean | Promise<boolean>;
}

/** A page of the files of a scope, in the order of their keys. Looks at a bounded number of files. @throws AgentError STORE_* */
export async function keptFiles(
  store: Pick<SessionStore, "blobs">,
  scope: string,
  { limit, after, isSeen = () => true }: KeptFilesQuery,
): Promise<{ readonly files: readonly KnownFile[]; readonly next?: string }> {
  const files: KnownFile[] = [];
  let place = after === undefined ? undefined : fileNoteName(after);
  for (let lookedAt = 0; lookedAt < lookedAtMax; ) {
    const keys = await store.blobs.list(scope, { prefix: notePrefix, limit, ...(place === undefined ? {} : { after: place }) });
    const found = await Promise.all(keys.map((key) => readNote(store, scope, key)));
    const seen = await Promise.all(found.map((file) => file !== undefined && isSeen(file)));
    for (const [at, key] of keys.entries()) {
      const file = found[at];
      if (file && seen[at]) files.push(file);
      place = key;
      // If no file follows, the next page is empty.
      if (files.length === limit) return { files, next: cursorOf(key) };
    }
    lookedAt += keys.length;
    if (keys.length < limit) return { files };
  }
  return { files, ...(place === undefined ? {} : { next: cursorOf(place) }) };
}

const cursorOf = (key: string): string => key.slice(notePrefix.length - "upload-".length);
