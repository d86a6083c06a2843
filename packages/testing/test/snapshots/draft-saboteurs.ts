import type { Json } from "@loopwright/core";
import { memoryStore } from "@loopwright/core/memory";
import type { DraftStore } from "@loopwright/core/ports";
import type { Saboteur } from "../../src/kit/saboteur.ts";
import type { Make } from "../../src/kit/store-case.ts";
import type { DraftsUnderTest } from "../../src/snapshots/draft-store-kit.ts";

function spoiledDrafts(spoil: (real: DraftStore) => Partial<DraftStore>): Make<DraftsUnderTest> {
  return async () => {
    const { drafts, log } = memoryStore();
    return { drafts: { ...drafts, ...spoil(drafts) }, log };
  };
}

/** Defects of draft stores. */
export const draftSaboteurs: readonly Saboteur<DraftsUnderTest>[] = [
  {
    defect: "takes null for nothing",
    breaks: ["round-trip"],
    make: spoiledDrafts((real) => ({ get: async (ref, name) => (await real.get(ref, name)) ?? undefined })),
  },
  {
    defect: "gives null for nothing",
    breaks: ["absent", "remove", "apart", "session-removed", "late"],
    make: spoiledDrafts((real) => ({
      async get(ref, name) {
        const value = await real.get(ref, name);
        return value === undefined ? null : value;
      },
    })),
  },
  {
    defect: "throws when there is nothing to remove",
    breaks: ["absent"],
    make: spoiledDrafts((real) => ({
      async remove(ref, name) {
        if ((await real.get(ref, name)) === undefined) throw new Error("Nothing there.");
        await real.remove(ref, name);
      },
    })),
  },
  { defect: "removes nothing", breaks: ["remove"], make: spoiledDrafts(() => ({ async remove() {} })) },
  {
    defect: "knows no scopes",
    breaks: ["apart"],
    make: spoiledDrafts((real) => ({ get: (ref, name) => real.get({ ...ref, scope: "local" }, name) })),
  },
  {
    defect: "cuts long values",
    breaks: ["large"],
    make: spoiledDrafts((real) => ({
      put: (ref, name, value) => real.put(ref, name, typeof value === "string" ? value.slice(0, 65_536) : value),
    })),
  },
  {
    defect: "keeps the drafts of removed sessions",
    breaks: ["session-removed", "late"],
    make: async () => ({ drafts: memoryStore().drafts, log: memoryStore().log }),
  },
  {
    defect: "keeps what comes after the session was removed",
    breaks: ["late"],
    async make() {
      const { drafts, log } = memoryStore();
      const late = new Map<string, Json>();
      const removed = new Set<string>();
      return {
        drafts: {
          ...drafts,
          async put(ref, name, value) {
            if (removed.has(ref.session)) late.set(name, value);
            await drafts.put(ref, name, value);
          },
          get: async (ref, name) => (removed.has(ref.session) ? late.get(name) : drafts.get(ref, name)),
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
