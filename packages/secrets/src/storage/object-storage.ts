import { AgentError } from "@loopwright/core";
import { bytesOf, decodedHead, encodedHead, textOf } from "./encoded-head.ts";
import type { SecretStorage } from "./secret-storage.ts";

/** What a conditional write became: `ConditionalBlobs` of `@loopwright/store-blob`. */
type Outcome =
  | { readonly type: "written" | "full" | "unknown" }
  /** With `mayBeOwn` the object that is there may be that of an earlier try. */
  | { readonly type: "refused"; readonly mayBeOwn: boolean };

/** Whole objects under a condition: `s3Blobs` and `fileBlobs` of `@loopwright/store-blob` are such. */
export interface ConditionalObjects {
  get(key: string): Promise<{ readonly bytes: Uint8Array; readonly etag: string } | undefined>;
  put(key: string, bytes: Uint8Array, options?: { readonly ifNoneMatch?: boolean; readonly ifMatch?: string }): Promise<Outcome>;
  list(
    prefix: string,
    options?: { readonly after?: string },
  ): Promise<{ readonly objects: readonly { readonly key: string }[]; readonly hasMore: boolean }>;
}

export interface ObjectSecretsOptions {
  readonly objects: ConditionalObjects;
  /** What every key begins with. Default none. */
  readonly prefix?: string;
}

/** A scope as it is stored: its head, and its encrypted secrets by name. */
interface StoredScope {
  readonly head: string;
  readonly records: { readonly [name: string]: string };
}

/**
 * Encrypted bytes as one object for each scope, for several processes and machines on one bucket. A write replaces the object of its scope, so that it is made for
 * some thousand secrets in a scope. @throws AgentError in its methods: STORE_FULL, STORE_UNAVAILABLE where it is not known whether it was written
 */
export function objectStorage({ objects, prefix = "" }: ObjectSecretsOptions): SecretStorage {
  const folder = `${prefix}secrets/`;
  const keyOf = (scope: string): string => `${folder}${scope}`;
  const read = async (scope: string): Promise<{ readonly stored: StoredScope; readonly etag: string } | undefined> => {
    const found = await objects.get(keyOf(scope));
    return found && { stored: JSON.parse(new TextDecoder().decode(found.bytes)) as StoredScope, etag: found.etag };
  };
  return {
    async read(scope, name) {
      const found = await read(scope);
      if (!found) return {};
      const { head, records } = found.stored;
      const record = name !== undefined && Object.hasOwn(records, name) ? records[name] : undefined;
      return { head: decodedHead(head), ...(record === undefined ? {} : { record: bytesOf(record) }) };
    },
    async write(scope, { expected, head, record }) {
      const found = await read(scope);
      if ((found ? decodedHead(found.stored.head).revision : 0) !== expected) return false;
      const records = new Map(Object.entries(found?.stored.records ?? {}));
      if (record?.bytes) records.set(record.name, textOf(record.bytes));
      else if (record) records.delete(record.name);
      const stored: StoredScope = { head: encodedHead(head), records: Object.fromEntries(records) };
      const condition = found ? { ifMatch: found.etag } : { ifNoneMatch: true };
      const outcome = await objects.put(keyOf(scope), new TextEncoder().encode(JSON.stringify(stored)), condition);
      if (outcome.type === "refused") return outcome.mayBeOwn && (await read(scope))?.stored.head === stored.head;
      if (outcome.type === "written") return true;
      throw outcome.type === "full"
        ? new AgentError("STORE_FULL", { message: "The place of the secrets is full." })
        : new AgentError("STORE_UNAVAILABLE", { message: "It is not known whether the secret was written." });
    },
    async scopes() {
      const scopes: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await objects.list(folder, after === undefined ? {} : { after });
        scopes.push(...page.objects.map(({ key }) => key.slice(folder.length)));
        after = page.objects.at(-1)?.key;
        if (!page.hasMore || after === undefined) return scopes.sort();
      }
    },
  };
}
