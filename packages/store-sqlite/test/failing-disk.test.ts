import { join } from "node:path";
import { type DiskControl, type FailingDisk, failingDisk, failingDiskMissing } from "@loopwright/simulator/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteStore } from "../src/index.ts";
import { freshFolder } from "./fresh-folder.ts";
import { type StoreProcess, startStoreProcess } from "./store-process.ts";

const missing = failingDiskMissing();
if (missing) console.warn(`Skipped: ${missing}`);

const folder = freshFolder();
let count = 0;

describe.skipIf(missing)("on a disk that fails", () => {
  const ref = { scope: "local", session: "shared" };
  let failing: FailingDisk;
  let path: string;
  let writer: StoreProcess;
  let disk: DiskControl;

  const start = async (environment: FailingDisk["environment"]): Promise<unknown> => {
    writer = startStoreProcess("as-told", path, "", { environment });
    // Once it has answered it has loaded what it needs.
    const answer = await append(0, "first");
    disk = await failing.control(writer.child.pid ?? 0);
    return answer;
  };
  const append = (after: number, batchId: string): Promise<unknown> => {
    writer.child.stdin?.write(`${after} ${batchId}\n`);
    return writer.next();
  };
  const titles = async (): Promise<readonly unknown[]> => {
    const store = sqliteStore(path);
    const facts = await store.log.read(ref);
    await store.close();
    return facts.map((fact) => (fact.type === "session.changed" ? fact.title : undefined));
  };

  beforeEach(async () => {
    path = join(folder, `failing-${++count}.db`);
    failing = await failingDisk();
    expect(await start(failing.environment)).toBe("ok");
  });
  afterEach(async () => {
    await disk.close();
    await writer.kill();
    await failing.close();
  });

  it("what no sync has confirmed is not acknowledged, however often it is asked for", async () => {
    await disk.fail({ fsync: 1 });
    const answers = [await append(1, "second"), await append(1, "second"), await append(1, "second"), await append(1, "second")];
    expect(answers.filter((answer) => answer === "ok" || answer === "dup")).toEqual([]);
    await disk.heal();
    expect(await append(1, "second")).toMatch(/ok|dup/);
    expect(await titles()).toEqual(["first", "second"]);
  });

  it("a process that comes after one that died of it acknowledges nothing that no sync has confirmed", async () => {
    await disk.fail({ fsync: 1 });
    expect(await append(1, "second")).toBe("unknown");
    await disk.close();
    await writer.kill();
    expect(await start(failing.environmentWith({ fsync: 1 }))).not.toMatch(/ok|dup/);
    expect(await append(1, "second")).not.toMatch(/ok|dup/);
    await disk.fail({ fsync: 1 });
    await disk.heal();
    expect(await append(1, "second")).toMatch(/ok|dup/);
    expect(await titles()).toEqual(["first", "second"]);
  });

  it("a file that cannot be opened for a while is not taken for one that may only be read", async () => {
    await disk.fail({ fsync: 1 });
    expect(await append(1, "second")).toBe("unknown");
    await disk.fail({ open: 1 });
    expect(await append(1, "second")).toBe("STORE_UNAVAILABLE");
    await disk.heal();
    expect(await append(1, "second")).toMatch(/ok|dup/);
    expect(await append(2, "third")).toBe("ok");
    expect(await titles()).toEqual(["first", "second", "third"]);
  });
});
