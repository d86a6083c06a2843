import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manualClock } from "@loopwright/core/memory";
import { describe } from "vitest";
import { nodeFiles } from "../src/files/file-calls.ts";
import { openFile, sealFile } from "../src/files/file-format.ts";
import { blobStore, type FileCalls, fileBlobs } from "../src/index.ts";
import { keyOfFact, withFlippedBit } from "./damage.ts";
import { freshFolder } from "./fresh-folder.ts";
import { ruinings } from "./ruinings.ts";
import { describeStoreKits } from "./store-kits.ts";
import { tamperedSlots } from "./tamper.ts";

const root = freshFolder();
let count = 0;
const failing = (code: string): Error => Object.assign(new Error(code), { code });

/** The file system, with a disk that can be full, and one that does not report that a name was written. */
function faultyFiles() {
  const faults = { isFull: false, losesName: false, isNamed: false };
  const files: FileCalls = {
    ...nodeFiles,
    async write(path, bytes, isDurable) {
      if (faults.isFull) throw failing("ENOSPC");
      return nodeFiles.write(path, bytes, isDurable);
    },
    async link(from, to) {
      const isNew = await nodeFiles.link(from, to);
      faults.isNamed = faults.losesName && to.includes("/slots/");
      return isNew;
    },
    async syncFolder(path) {
      if (!faults.isNamed) return nodeFiles.syncFolder(path);
      faults.isNamed = false;
      faults.losesName = false;
      throw failing("EIO");
    },
  };
  return { faults, files };
}

describe("A32: a folder of files", () =>
  describeStoreKits(async () => {
    const clock = manualClock();
    const folder = join(root, String(count++));
    const { faults, files } = faultyFiles();
    return {
      open: () => blobStore({ blobs: fileBlobs({ folder, clock, files }), compactAfter: 16, heldLookMs: 0 }),
      more: () => ({
        advance: (ms) => clock.advance(ms),
        async damage(ref, seq) {
          const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile());
          const key = keyOfFact(
            names.map((name) => [name, readFileSync(join(folder, name))]),
            ref,
            seq,
          );
          const bytes = readFileSync(join(folder, key));
          writeFileSync(join(folder, key), withFlippedBit(bytes, (bytes.length - 3) * 8));
        },
        async tamper(ref, seq, way) {
          const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile());
          const files = new Map(names.filter((name) => name.includes("/slots/")).map((name) => [name, readFileSync(join(folder, name))]));
          const objects = new Map([...files].map(([name, file]) => [name, openFile(file, name).bytes]));
          for (const [name, bytes] of tamperedSlots(objects, ref, { seq, way })) {
            const [file] = [files.get(name) ?? [...files.values()][0]];
            if (!bytes || !file) rmSync(join(folder, name));
            else writeFileSync(join(folder, name), sealFile(openFile(file, name).header, bytes));
          }
        },
        async rollBack() {
          cpSync(folder, `${folder} copy`, { recursive: true });
          return async () => {
            rmSync(folder, { recursive: true });
            cpSync(`${folder} copy`, folder, { recursive: true });
          };
        },
        ruin: async (ref) => ruinings["a file in place of its folder"](folder, ref),
        async fill() {
          faults.isFull = true;
          return async () => {
            faults.isFull = false;
          };
        },
        loseAnswer: () => {
          faults.losesName = true;
        },
      }),
    };
  }, [
    { capability: "another", reason: "one process at a time holds a folder" },
    { capability: "marks", reason: "folders and buckets keep none yet: decision 0030" },
    { capability: "work", reason: "requests are counted in `bounded-pages.test.ts`" },
  ]));
