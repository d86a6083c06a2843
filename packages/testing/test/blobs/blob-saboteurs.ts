import { memoryStore } from "@loopwright/core/memory";
import type { BlobStore } from "@loopwright/core/ports";
import type { BlobsUnderTest } from "../../src/blobs/blobs-under-test.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";

function spoiledBlobs(spoil: (real: BlobStore) => Partial<BlobStore>): Make<BlobsUnderTest> {
  return async () => {
    const { blobs: real, log } = memoryStore();
    const blobs: BlobStore = { ...real, ...spoil(real) };
    return { blobs, log, reopen: async () => blobs };
  };
}

/** Defects of blob stores. */
export const blobSaboteurs: readonly Saboteur<BlobsUnderTest>[] = [
  {
    defect: "forgets media types",
    breaks: [
      "round-trip",
      "session-owns",
      "taken-over",
      "fork",
      "owners-at-once",
      "owner-meanwhile",
      "owner-while-removed",
      "remove-if-unused",
    ],
    make: spoiledBlobs((real) => ({
      put: (scope, key, { mediaType: _, ...blob }) => real.put(scope, key, blob),
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
    defect: "copies with `slice`, which shares the memory of a Buffer",
    breaks: ["shared-slice"],
    make: spoiledBlobs((real) => {
      const kept = new Map<string, Uint8Array>();
      return {
        async put(scope, key, blob) {
          if (key === "sliced") kept.set(scope, blob.bytes.slice());
          return real.put(scope, key, blob);
        },
        async get(scope, key) {
          const bytes = key === "sliced" ? kept.get(scope) : undefined;
          return bytes ? { bytes } : real.get(scope, key);
        },
      };
    }),
  },
  {
    defect: "never replaces a value",
    breaks: ["overwrite", "late-owner"],
    make: spoiledBlobs((real) => ({
      put: async (scope, key, blob) => (await real.put(scope, key, { ...blob, ifAbsent: true })) || !blob.ifAbsent,
    })),
  },
  {
    defect: "looks before it writes, not with it",
    breaks: ["if-absent", "last-owner", "given-again"],
    make: spoiledBlobs((real) => ({
      async put(scope, key, blob) {
        if (blob.ifAbsent && (await real.get(scope, key))) return false;
        return real.put(scope, key, { ...blob, ifAbsent: false });
      },
    })),
  },
  {
    defect: "removes what is not there",
    breaks: ["absent", "scopes-apart", "owner-while-removed", "remove-if-unused"],
    make: spoiledBlobs((real) => ({ remove: async (scope, key) => (await real.remove(scope, key)) || true })),
  },
  {
    defect: "keeps what was removed",
    breaks: ["remove", "remove-all-owners", "remove-if-unused"],
    make: spoiledBlobs((real) => ({ remove: async (scope, key) => (await real.get(scope, key)) !== undefined })),
  },
  {
    defect: "knows no scopes",
    breaks: ["scopes-apart", "erased-with-session"],
    make: spoiledBlobs((real) => ({ get: (_scope, key) => real.get("local", key) })),
  },
  {
    defect: "lists in the order of writing",
    breaks: ["list", "erased-with-session"],
    make: spoiledBlobs((real) => ({ list: async (scope, options) => (await real.list(scope, options)).toReversed() })),
  },
  {
    defect: "comes back empty",
    breaks: ["reopen"],
    make: async () => ({ ...memoryStore(), reopen: async () => memoryStore().blobs }),
  },
  {
    defect: "erases nothing with a session",
    breaks: [
      "erased-with-session",
      "last-owner",
      "taken-over",
      "late-owner",
      "fork",
      "owners-at-once",
      "owner-meanwhile",
      "reopen",
      "remove-if-unused",
    ],
    make: async () => ({ blobs: memoryStore().blobs, log: memoryStore().log, reopen: async () => memoryStore().blobs }),
  },
  {
    defect: "gives all blobs to the scope",
    breaks: [
      "session-owns",
      "erased-with-session",
      "last-owner",
      "taken-over",
      "given-again",
      "late-owner",
      "fork",
      "owners-at-once",
      "owner-meanwhile",
      "owner-while-removed",
      "remove-if-unused",
    ],
    make: spoiledBlobs((real) => ({
      put: (scope, key, { session: _, ...blob }) => real.put(scope, key, blob),
      own: async (scope, key) => (await real.get(scope, key)) !== undefined,
    })),
  },
  {
    defect: "lists a key once for each owner",
    breaks: ["session-owns"],
    make: spoiledBlobs((real) => {
      const owners = new Map<string, Set<string>>();
      return {
        async put(scope, key, blob) {
          owners.set(key, (owners.get(key) ?? new Set()).add(blob.session ?? ""));
          return real.put(scope, key, blob);
        },
        list: async (scope, options) =>
          (await real.list(scope, options)).flatMap((key) => Array.from({ length: owners.get(key)?.size ?? 1 }, () => key)),
      };
    }),
  },
  {
    defect: "finds nothing without the name of its owner",
    breaks: ["session-owns", "erased-with-session", "last-owner", "taken-over", "late-owner"],
    make: spoiledBlobs((real) => {
      const ofScope = new Set<string>();
      return {
        async put(scope, key, blob) {
          if (blob.session === undefined) ofScope.add(key);
          return real.put(scope, key, blob);
        },
        async own(scope, key, session) {
          ofScope.delete(key);
          return real.own(scope, key, session);
        },
        get: async (scope, key, options) => (options?.session || ofScope.has(key) ? real.get(scope, key, options) : undefined),
      };
    }),
  },
  {
    defect: "removes the value of one owner only",
    breaks: ["remove", "remove-all-owners"],
    make: spoiledBlobs((real) => ({
      async remove(scope, key, options) {
        const own = await real.get(scope, key, { session: "first" });
        const removed = await real.remove(scope, key, options);
        if (own && removed && key === "key") await real.put(scope, key, { ...own, session: "first" });
        return removed;
      },
    })),
  },
  {
    defect: "removes what a session uses, though asked to leave it",
    breaks: ["remove-if-unused", "owner-while-removed"],
    make: spoiledBlobs((real) => ({ remove: (scope, key) => real.remove(scope, key) })),
  },
  {
    defect: "erases what another session still owns",
    breaks: ["last-owner", "taken-over", "given-again", "late-owner", "fork", "owners-at-once", "owner-meanwhile", "remove-if-unused"],
    async make() {
      const { blobs, log } = memoryStore();
      return {
        blobs,
        reopen: async () => blobs,
        log: {
          ...log,
          async remove(ref) {
            await log.remove(ref);
            for (const key of ["shared", "upload"]) await blobs.remove(ref.scope, key);
          },
        },
      };
    },
  },
  {
    defect: "keeps what a session takes over for the scope as well",
    breaks: ["taken-over", "given-again", "fork", "owners-at-once"],
    make: spoiledBlobs((real) => ({
      async own(scope, key, session) {
        const before = await real.get(scope, key);
        const isOwned = await real.own(scope, key, session);
        if (before && isOwned) await real.put(scope, key, before);
        return isOwned;
      },
    })),
  },
  {
    defect: "forgets that the scope was given it again",
    breaks: ["given-again", "remove-if-unused"],
    make: spoiledBlobs((real) => {
      const taken = new Set<string>();
      return {
        async own(scope, key, session) {
          const isOwned = await real.own(scope, key, session);
          if (isOwned) taken.add(key);
          return isOwned;
        },
        put: async (scope, key, blob) => taken.has(key) || real.put(scope, key, blob),
      };
    }),
  },
  {
    defect: "keeps what comes after the session was removed",
    breaks: ["late-owner"],
    make: spoiledBlobs((real) => ({
      async put(scope, key, blob) {
        return (
          (await real.put(scope, key, blob)) ||
          (blob.session !== undefined && !blob.ifAbsent && real.put(scope, key, { bytes: blob.bytes }))
        );
      },
    })),
  },
  {
    defect: "lets a session take over from the scope alone",
    breaks: ["fork"],
    make: spoiledBlobs((real) => {
      const ofScope = new Set<string>();
      return {
        async put(scope, key, blob) {
          if (blob.session === undefined) ofScope.add(key);
          return real.put(scope, key, blob);
        },
        own: async (scope, key, session) => ofScope.has(key) && real.own(scope, key, session),
      };
    }),
  },
  {
    defect: "moves a blob from one session to the next",
    breaks: ["fork", "given-again", "remove-if-unused"],
    async make() {
      const { blobs: real, log } = memoryStore();
      const owners = new Map<string, string>();
      const blobs: BlobStore = {
        ...real,
        async own(scope, key, session) {
          const value = await real.get(scope, key);
          if (!value || !(await real.own(scope, key, session))) return false;
          owners.set(key, session);
          return true;
        },
      };
      return {
        blobs,
        reopen: async () => blobs,
        log: {
          ...log,
          async remove(ref) {
            await log.remove(ref);
            for (const [key, owner] of owners) if (owner === ref.session) await real.remove(ref.scope, key);
          },
        },
      };
    },
  },
  {
    defect: "lets one of several take over at once",
    breaks: ["owners-at-once"],
    make: spoiledBlobs((real) => {
      const busy = new Set<string>();
      return {
        async own(scope, key, session) {
          if (busy.has(key)) return true;
          busy.add(key);
          await Promise.resolve();
          busy.delete(key);
          return real.own(scope, key, session);
        },
      };
    }),
  },
  {
    defect: "adds an owner in two steps that a removal may part",
    breaks: ["late-owner", "owner-meanwhile", "owner-while-removed"],
    make: spoiledBlobs((real) => ({
      async own(scope, key, session) {
        if (!(await real.get(scope, key))) return false;
        for (let turn = 0; turn < 20; turn++) await Promise.resolve();
        await real.own(scope, key, session);
        return true;
      },
    })),
  },
];
