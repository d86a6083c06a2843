import { manualClock } from "@loopwright/core/memory";
import { expect, it } from "vitest";
import { storeLimits } from "../store-limits.ts";
import type { FileCalls } from "./file-calls.ts";
import { FileFolder } from "./file-folder.ts";

it("remembers so many folders and no more: one that was forgotten is made sure of again", async () => {
  const made: string[] = [];
  let lock: Uint8Array | undefined;
  const files: FileCalls = {
    truePath: async (path) => path,
    makeFolder: async (path) => made.push(path) > 0,
    read: async (path) => (path.endsWith("/lock") ? lock : undefined),
    async write(path, bytes) {
      if (path.includes("/lock-")) lock = bytes;
    },
    link: async () => true,
    removeFolder: async () => true,
    rename: async () => {},
    remove: async () => {},
    syncFolder: async () => {},
    names: async () => [],
    kindOf: async () => 0,
  };
  const folder = new FileFolder({ folder: "/somewhere", force: false, files, clock: manualClock(), clockName: "", leaseMs: 15_000 });
  await folder.open();
  const write = (name: string): Promise<unknown> => folder.write(`${name}/object`, new Uint8Array(), { isNew: true, isDurable: false });
  for (let count = 0; count <= storeLimits.knownFoldersMax; count++) await write(`s${count}`);
  const before = made.length;
  await write(`s${storeLimits.knownFoldersMax}`);
  expect(made.length).toBe(before);
  await write("s0");
  expect(made.slice(before)).toEqual(["/somewhere/s0"]);
  await folder.close();
});
