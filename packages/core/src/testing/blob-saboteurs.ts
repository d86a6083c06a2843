import { memoryStore } from "../memory/memory-store.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { BlobsUnderTest } from "./blob-store-kit.ts";
import type { Saboteur } from "./saboteur.ts";
import type { Make } from "./store-case.ts";

function spoiledBlobs(spoil: (real: BlobStore) => Partial<BlobStore>): Make<BlobsUnderTest> {
  return async () => {
    const real = memoryStore().blobs;
    const blobs: BlobStore = { ...real, ...spoil(real) };
    return { blobs, reopen: async () => blobs };
  };
}

/** Defects of blob stores. */
export const blobSaboteurs: readonly Saboteur<BlobsUnderTest>[] = [
  {
    defect: "forgets media types",
    breaks: ["round-trip"],
    make: spoiledBlobs((real) => ({
      put: (scope, key, { bytes, ifAbsent }) => real.put(scope, key, { bytes, ...(ifAbsent ? { ifAbsent } : {}) }),
    })),
  },
  {
    defect: "keeps no more than 4 MiB",
    breaks: ["large"],
    make: spoiledBlobs((real) => ({
      put: (scope, key, blob) => real.put(scope, key, { ...blob, bytes: blob.bytes.subarray(0, 4 * 1024 * 1024) }),
    })),
  },
  {
    defect: "stores the whole buffer behind a view",
    breaks: ["part-of-buffer"],
    make: spoiledBlobs((real) => ({
      put: (scope, key, blob) => real.put(scope, key, { ...blob, bytes: new Uint8Array(blob.bytes.buffer) }),
    })),
  },
  {
    defect: "keeps the writer's array",
    breaks: ["own-copy"],
    make: spoiledBlobs((real) => {
      const kept = new Map<string, Uint8Array>();
      return {
        async put(scope, key, blob) {
          if (key === "copy") kept.set(scope, blob.bytes);
          return real.put(scope, key, blob);
        },
        async get(scope, key) {
          const bytes = key === "copy" ? kept.get(scope) : undefined;
          return bytes ? { bytes } : real.get(scope, key);
        },
      };
    }),
  },
  {
    defect: "never replaces a value",
    breaks: ["overwrite"],
    make: spoiledBlobs((real) => ({
      put: async (scope, key, blob) => (await real.put(scope, key, { ...blob, ifAbsent: true })) || !blob.ifAbsent,
    })),
  },
  {
    defect: "looks before it writes, not with it",
    breaks: ["if-absent"],
    make: spoiledBlobs((real) => ({
      async put(scope, key, blob) {
        if (blob.ifAbsent && (await real.get(scope, key))) return false;
        return real.put(scope, key, { ...blob, ifAbsent: false });
      },
    })),
  },
  {
    defect: "removes what is not there",
    breaks: ["absent", "scopes-apart"],
    make: spoiledBlobs((real) => ({ remove: async (scope, key) => (await real.remove(scope, key)) || true })),
  },
  {
    defect: "keeps what was removed",
    breaks: ["remove"],
    make: spoiledBlobs((real) => ({ remove: async (scope, key) => (await real.get(scope, key)) !== undefined })),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart"],
    make: spoiledBlobs((real) => ({ get: (_scope, key) => real.get("local", key) })),
  },
  {
    defect: "lists in the order of writing",
    breaks: ["list"],
    make: spoiledBlobs((real) => ({ list: async (scope, options) => (await real.list(scope, options)).toReversed() })),
  },
  {
    defect: "comes back empty",
    breaks: ["reopen"],
    make: async () => ({ blobs: memoryStore().blobs, reopen: async () => memoryStore().blobs }),
  },
];
