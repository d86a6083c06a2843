import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { redisBackend } from "@loopwright/backend-redis";
import { createAgent } from "@loopwright/core";
import { scripted, silentLogger } from "@loopwright/core/memory";
import { createRuntime } from "@loopwright/host";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { expect, it, onTestFinished } from "vitest";

interface Worker {
  readonly lines: readonly string[];
  say(line: string): void;
  kill(): Promise<void>;
}

/** A worker in a process of its own. `onLine`: called after each line of it. */
function startWorker(port: number, name: string, onLine: () => void): Worker {
  const program = fileURLToPath(new URL("children-worker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program, String(port), name], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    onLine();
  });
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  return { lines, kill, say: (line) => void child.stdin.write(`${line}\n`) };
}

const countOf = ({ lines }: Worker, line: string): number => lines.filter((one) => one === line).length;

it("B44: six children run beside one another on two nodes of a Redis; one node is killed, and the other one completes the tree, each child once", {
  timeout: 90_000,
}, async ({ skip }) => {
  const missing = redisMissing();
  if (missing) return skip(missing);
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  let notified = (): void => {};
  const workers = ["a", "b"].map((name) => startWorker(redis.port, name, () => notified()));
  const isSo = (isTrue: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      notified = () => void (isTrue() && resolve());
      notified();
    });
  await isSo(() => workers.every((worker) => countOf(worker, "ready") === 1));
  const agent = createAgent({ name: "lead", provider: scripted([]) });
  const runtime = createRuntime({ agents: [agent], ...redisBackend(redis.url), logger: silentLogger });
  onTestFinished(() => runtime.close());
  const { store } = runtime;
  const session = runtime.session({ agent, id: "root", drives: false });
  await session.submit("Go.");
  // None of them can end yet: so all six run at once, and neither node has all of them.
  await isSo(() => workers.reduce((sum, worker) => sum + countOf(worker, "looks"), 0) === 6);
  const [first, second] = workers;
  if (!first || !second) throw new Error("There are two workers.");
  expect([countOf(first, "looks"), countOf(second, "looks")].every((count) => count > 0)).toBe(true);
  const taken = countOf(first, "looks");
  await first.kill();
  second.say("go");
  const ended = Promise.withResolvers<void>();
  const leave = session.follow({ events: (events) => void (events.some(({ type }) => type === "run_end") && ended.resolve()) });
  await ended.promise;
  leave();
  expect(countOf(second, "looks")).toBe(6);
  expect(taken).toBeGreaterThan(0);
  const children = await store.index.list("local", { parent: "root" });
  expect(children).toHaveLength(6);
  const nodes = new Set<string>();
  for (const { id, usage } of children) {
    const facts = await store.log.read({ scope: "local", session: id });
    const count = (type: string): number => facts.filter((fact) => fact.type === type).length;
    expect(["input.accepted", "run.started", "run.finished", "tool.finished"].map(count)).toEqual([1, 1, 1, 1]);
    expect(usage).toMatchObject({ input: 20, output: 2 });
    for (const fact of facts) if (fact.type === "owner.claimed") nodes.add(fact.node.replace(".child", ""));
  }
  expect(nodes).toEqual(new Set(["a", "b"]));
  expect((await store.index.get("local", "root"))?.usage).toMatchObject({ input: 140, output: 14 });
});
