import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionRef } from "@loopwright/core/ports";

const everyFile = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** Ways to make what a folder holds of a session unreadable, past the store. */
export const ruinings = {
  "a file in place of its folder": (folder: string, { scope, session }: SessionRef): void => {
    const own = join(folder, "sessions", scope, session);
    rmSync(own, { recursive: true });
    writeFileSync(own, "not a folder");
  },
  "a folder that nobody may read": (folder: string, { scope, session }: SessionRef): void => {
    chmodSync(join(folder, "sessions", scope, session), 0o000);
  },
  "files that nobody may read": (folder: string, { scope, session }: SessionRef): void => {
    for (const path of everyFile(join(folder, "sessions", scope, session))) chmodSync(path, 0o000);
    for (const kind of ["leases", "summaries"]) chmodSyncIfThere(join(folder, kind, scope, session));
  },
  "folders in place of its files": (folder: string, { scope, session }: SessionRef): void => {
    const own = everyFile(join(folder, "sessions", scope, session));
    for (const path of [...own, join(folder, "leases", scope, session), join(folder, "summaries", scope, session)]) {
      rmSync(path, { force: true });
      mkdirSync(join(path, "within"), { recursive: true });
      writeFileSync(join(path, "within", "file"), "");
    }
  },
  "nonsense in its files": (folder: string, { scope, session }: SessionRef): void => {
    for (const path of everyFile(join(folder, "sessions", scope, session))) writeFileSync(path, "nonsense");
    writeFileSync(join(folder, "summaries", scope, session), "nonsense");
  },
} as const;

function chmodSyncIfThere(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) chmodSync(path, 0o000);
}

/** Why a way cannot be taken here: the system lets root read everything. */
export function whyNot(way: string): string | undefined {
  return way.includes("nobody may read") && process.getuid?.() === 0 ? "root may read everything" : undefined;
}
