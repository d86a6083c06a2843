import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { redisBackend } from "@loopwright/backend-redis";
import { type AgentSession, createAgent, isAgentError } from "@loopwright/core";
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

/** Trees that are begun until one is spread over both nodes. */
const treesMax = 8;
const countOf = ({ lines }: Worker, line: string): number => lines.filter((one) => one === line).length;

/** Begins a tree, as a client does it: again, with the same key, where a starved store did not confirm in time. */
async function submitted(session: AgentSession): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await session.submit("Go.", { idempotencyKey: "go" });
      return;
    } catch (error) {
      if (!isAgentError(error, "STORE_UNAVAILABLE") || tries === 10) throw error;
    }
  }
}

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
  const [first, second] = workers;
  if (!first || !second) throw new Error("There are two workers.");
  const looksOf = (worker: Worker, calls: readonly string[]): number =>
    calls.reduce((sum, key) => sum + countOf(worker, `looks ${key}`), 0);
  /** The calls of the children of a tree. */
  const callsOf = async (id: string): Promise<readonly string[]> => {
    const keys = new Set<string>();
    for (const { id: session } of await store.index.list("local", { parent: id }))
      for (const fact of await store.log.read({ scope: "local", session })) if (fact.type === "tool.started") keys.add(fact.callKey);
    return [...keys];
  };
  // A starved machine may leave all of a tree to one node, which runs what no other takes in time: then another tree is begun beside it.
  let root = "";
  let shares: readonly number[] = [0, 0];
  for (let tree = 1; tree <= treesMax && shares.includes(0); tree++) {
    root = `root-${tree}`;
    await submitted(runtime.session({ agent, id: root, drives: false }));
    // None of them can end yet: so all run at once.
    await isSo(() => workers.flatMap(({ lines }) => lines.filter((line) => line.startsWith("looks"))).length === 6 * tree);
    const calls = await callsOf(root);
    shares = workers.map((worker) => looksOf(worker, calls));
  }
  expect(shares).not.toContain(0);
  expect(shares.reduce((sum, count) => sum + count, 0)).toBe(6);
  const session = runtime.session({ agent, id: root, drives: false });
  await first.kill();
  second.say("go");
  const ended = Promise.withResolvers<void>();
  const leave = session.follow({ events: (events) => void (events.some(({ type }) => type === "run_end") && ended.resolve()) });
  await ended.promise;
  leave();
  const children = await store.index.list("local", { parent: root });
  expect(children).toHaveLength(6);
  expect(looksOf(second, await callsOf(root))).toBe(6);
  const nodes = new Set<string>();
  for (const { id, usage } of children) {
    const facts = await store.log.read({ scope: "local", session: id });
    const count = (type: string): number => facts.filter((fact) => fact.type === type).length;
    expect(["input.accepted", "run.started", "run.finished", "tool.finished"].map(count)).toEqual([1, 1, 1, 1]);
    expect(usage).toMatchObject({ input: 20, output: 2 });
    for (const fact of facts) if (fact.type === "owner.claimed") nodes.add(fact.node.replace(".child", ""));
  }
  expect(nodes).toEqual(new Set(["a", "b"]));
  expect((await store.index.get("local", root))?.usage).toMatchObject({ input: 140, output: 14 });
});
