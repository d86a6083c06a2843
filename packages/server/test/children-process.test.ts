import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { SessionStore } from "@loopwright/core/ports";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { redisStore } from "@loopwright/store-redis";
import { sqliteStore } from "@loopwright/store-sqlite";
import { describe, expect, it, onTestFinished } from "vitest";

/*
 * Children whose processes are really killed, or end while a person thinks: `children-program.ts`. The order of what happens is given by the lines that
 * it prints, never by time.
 */
interface Node {
  /** Resolves when it has sent so many lines like this. */
  written(line: string, times?: number): Promise<void>;
  readonly lines: readonly string[];
  kill(): Promise<void>;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

function start(words: readonly string[]): Node {
  const program = fileURLToPath(new URL("children-program.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  const lines: string[] = [];
  const receiving = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    for (const receive of receiving) receive();
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const written = (line: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const receive = (): void => {
        if (lines.filter((one) => one === line).length >= times) resolve();
      };
      receiving.add(receive);
      receive();
      void ended.then((code) => reject(new Error(`The node ended with ${code} before it said \`${line}\`: ${lines.join(" | ")}`)));
    });
  return { written, lines, kill, ended };
}

async function freshFile(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "children-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, name);
}

const scope = "local";
const idsBelow = async (store: SessionStore, parent: string): Promise<readonly string[]> =>
  (await store.index.list(scope, { parent })).map(({ id }) => id);

/** Each of three children was started once, asked once and ended once, and its spending counted once above. */
async function expectThreeChildren(store: SessionStore): Promise<void> {
  const children = await idsBelow(store, "root");
  expect(children).toHaveLength(3);
  expect((await store.index.list(scope)).map(({ id }) => id)).toEqual(["root"]);
  const typesOf = async (session: string) => (await store.log.read({ scope, session })).map(({ type }) => type);
  const countIn = (types: readonly string[], type: string): number => types.filter((one) => one === type).length;
  for (const id of children) {
    const types = await typesOf(id);
    expect(["input.accepted", "run.started", "run.finished"].map((type) => countIn(types, type))).toEqual([1, 1, 1]);
    expect(countIn(types, "tool.started")).toBe(2);
  }
  const root = await typesOf("root");
  expect(["child.linked", "child.finished", "run.finished"].map((type) => countIn(root, type))).toEqual([3, 3, 1]);
}

describe("31: a node that is killed in the middle of three children that run beside one another", () => {
  it("31: on SQLite the next process attaches to the same children, takes them over, and the sums are those of one run", async () => {
    const file = await freshFile("sessions.db");
    const first = start(["sqlite", file, "begin"]);
    // No child can end: so the three run at once.
    await first.written("looks", 3);
    await first.kill();
    const next = start(["sqlite", file, "continue", "2"]);
    expect(await next.ended).toBe(0);
    // Two model calls for the root and for each child.
    expect(next.lines).toEqual(["looks", "looks", "looks", "completed all found 80"]);
    const store = sqliteStore({ path: file });
    onTestFinished(() => store.close());
    await expectThreeChildren(store);
  });

  it("31: on Redis a second node that waits takes the tree over when the lease of the killed one has expired", async ({ skip }) => {
    const missing = redisMissing();
    if (missing) return skip(missing);
    const redis = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
    onTestFinished(() => redis.stop());
    const place = ["redis", String(redis.port)];
    const first = start([...place, "begin"]);
    await first.written("looks", 3);
    const second = start([...place, "continue", "2"]);
    await first.kill();
    expect(await second.ended).toBe(0);
    expect(second.lines).toEqual(["looks", "looks", "looks", "completed all found 80"]);
    const store = redisStore(redis.url);
    onTestFinished(() => store.close());
    await expectThreeChildren(store);
  });
});

describe("B44: a tree three deep that waits for a person", () => {
  it("B44: holds no process on SQLite, continues with a new build after an approval at the root, and refuses a replayed one", async () => {
    const [file, witness] = [await freshFile("sessions.db"), await freshFile("witness")];
    const first = start(["sqlite", file, "ask", "1", witness]);
    expect(await first.ended).toBe(0);
    expect(first.lines).toEqual(["awaiting_tool_execution"]);
    const store = sqliteStore({ path: file });
    const [middle = ""] = await idsBelow(store, "root");
    const [bottom = ""] = await idsBelow(store, middle);
    for (const session of ["root", middle, bottom]) expect((await store.log.head({ scope, session })).lease).toBeUndefined();
    expect(await store.log.due({ now: Number.MAX_SAFE_INTEGER })).toEqual([]);
    expect(await store.index.get(scope, "root")).toMatchObject({ status: "waiting", waitsFor: ["children"] });
    await store.close();

    const second = start(["sqlite", file, "allow", "2", witness]);
    expect(await second.ended).toBe(0);
    const callKey = second.lines[0]?.split(" ")[1] ?? "";
    expect(second.lines).toEqual([`deciding ${callKey}`, "decided completed all clean"]);
    expect(await readFile(witness, "utf8")).toBe("2\n");

    const third = start(["sqlite", file, "deny", "3", witness, callKey]);
    await third.ended;
    expect(third.lines).toEqual([`deciding ${callKey}`, "refused APPROVAL_DECIDED"]);
    const fourth = start(["sqlite", file, "allow", "3", witness, callKey]);
    await fourth.ended;
    expect(fourth.lines).toEqual([`deciding ${callKey}`, "replayed completed all clean"]);
    expect(await readFile(witness, "utf8")).toBe("2\n");
  });
});
