import type { Json } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { SnapshotStore } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { SnapshotsUnderTest } from "../../src/snapshots/snapshot-store-kit.ts";

function spoiledSnapshots(spoil: (real: SnapshotStore) => Partial<SnapshotStore>): Make<SnapshotsUnderTest> {
  return async () => {
    const { snapshots, log } = memoryStore();
    return { snapshots: { ...snapshots, ...spoil(snapshots) }, log };
  };
}

/** Defects of draft stores. */
export const snapshotSaboteurs: readonly Saboteur<SnapshotsUnderTest>[] = [
  {
    defect: "takes null for nothing",
    breaks: ["round-trip"],
    make: spoiledSnapshots((real) => ({ get: async (ref, name) => (await real.get(ref, name)) ?? undefined })),
  },
  {
    defect: "gives null for nothing",
    breaks: ["absent", "remove", "apart", "session-removed", "late"],
    make: spoiledSnapshots((real) => ({
      async get(ref, name) {
        const value = await real.get(ref, name);
        return value === undefined ? null : value;
      },
    })),
  },
  {
    defect: "throws when there is nothing to remove",
    breaks: ["absent"],
    make: spoiledSnapshots((real) => ({
      async remove(ref, name) {
        if ((await real.get(ref, name)) === undefined) throw new Error("Nothing there.");
        await real.remove(ref, name);
      },
    })),
  },
  { defect: "removes nothing", breaks: ["remove"], make: spoiledSnapshots(() => ({ async remove() {} })) },
  {
    defect: "knows no scopes",
    breaks: ["apart"],
    make: spoiledSnapshots((real) => ({ get: (ref, name) => real.get({ ...ref, scope: "local" }, name) })),
  },
  {
    defect: "cuts long values",
    breaks: ["large"],
    make: spoiledSnapshots((real) => ({
      put: (ref, name, value) => real.put(ref, name, typeof value === "string" ? value.slice(0, 65_536) : value),
    })),
  },
  {
    defect: "keeps the snapshots of removed sessions",
    breaks: ["session-removed", "late"],
    make: async () => ({ snapshots: memoryStore().snapshots, log: memoryStore().log }),
  },
  {
    defect: "keeps what comes after the session was removed",
    breaks: ["late"],
    async make() {
      const { snapshots, log } = memoryStore();
      const late = new Map<string, Json>();
      const removed = new Set<string>();
      return {
        snapshots: {
          ...snapshots,
          async put(ref, name, value) {
            if (removed.has(ref.session)) late.set(name, value);
            await snapshots.put(ref, name, value);
          },
          get: async (ref, name) => (removed.has(ref.session) ? late.get(name) : snapshots.get(ref, name)),
        },
        log: {
          ...log,
          async remove(ref) {
            removed.add(ref.session);
            await log.remove(ref);
          },
        },
      };
    },
  },
];
