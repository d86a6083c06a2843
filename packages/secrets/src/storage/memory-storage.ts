import type { ScopeHead, SecretStorage } from "./secret-storage.ts";

/** Encrypted bytes in this process, gone with it: for tests. */
export function memoryStorage(): SecretStorage {
  const heads = new Map<string, ScopeHead>();
  const records = new Map<string, Uint8Array>();
  const keyOf = (scope: string, name: string): string => JSON.stringify([scope, name]);
  return {
    async read(scope, name) {
      const head = heads.get(scope);
      const record = name === undefined ? undefined : records.get(keyOf(scope, name));
      return { ...(head ? { head } : {}), ...(record ? { record } : {}) };
    },
    async write(scope, { expected, head, record }) {
      if ((heads.get(scope)?.revision ?? 0) !== expected) return false;
      heads.set(scope, head);
      if (record?.bytes) records.set(keyOf(scope, record.name), record.bytes);
      else if (record) records.delete(keyOf(scope, record.name));
      return true;
    },
    scopes: async () => [...heads.keys()].sort(),
  };
}
