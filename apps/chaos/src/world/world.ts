/*
 * Owns: the processes of one world: the model, the witness and the nodes. Starts, kills and starts them again.
 * Does not own: the store's own server (experiments bring it), people and watchers.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionStore } from "@loopwright/core/ports";
import { CanaryHunt } from "./canary-hunt.ts";
import { type Child, FailedStart, startChild } from "./child.ts";
import type { Ending } from "./ending.ts";
import type { Ground } from "./ground.ts";
import type { ModelReport } from "./model-process.ts";
import type { NodeFlaw, NodeSettings, StoreSettings } from "./node-settings.ts";
import { openStore } from "./open-store.ts";
import { apiKey, secrets } from "./secrets.ts";
import { readTestimonies, type Testimony } from "./testimony.ts";

export interface WorldOptions {
  readonly ground: Ground;
  readonly nodes: number;
  readonly leaseMs: number;
  readonly sweepMs?: number;
  readonly drainMs?: number;
  readonly role?: (index: number) => NodeSettings["role"];
  /** Every node has it. Default: none. */
  readonly flaw?: NodeFlaw | undefined;
}

export interface World {
  readonly folder: string;
  readonly ground: Ground;
  readonly store: StoreSettings;
  readonly nodes: readonly (Child | undefined)[];
  /** The URL of a node that is alive, any of them. */
  pick(random: () => number): string;
  /** Starts the node of this place anew. */
  start(index: number, changes?: Partial<NodeSettings>): Promise<Child>;
  /** The store, for the checks. Where only one process may have it open, the nodes end first. */
  openStore(): Promise<SessionStore>;
  testimonies(): Promise<readonly Testimony[]>;
  model(): Promise<ModelReport>;
  /** Errors in the output of the nodes, dead ones included. */
  readonly complaints: readonly string[];
  /** How nodes ended so far. */
  readonly endings: readonly Ending[];
  /** Searches for secrets in all output of nodes and in the given texts. */
  readonly hunt: CanaryHunt;
  /** The folder of all files that were written, for inspection. */
  remains(): Promise<readonly string[]>;
  close(): Promise<void>;
}

const drainDefault = 5_000;

export async function startWorld(options: WorldOptions): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "loopwright-chaos-"));
  const { ground } = options;
  const store = ground.store(folder);
  const file = join(folder, "witness.jsonl");
  const [model, witness] = await Promise.all([startChild("model-process.ts", []), startChild("witness-process.ts", [file])]);
  const nodes: (Child | undefined)[] = Array.from({ length: options.nodes });
  const complaints: string[] = [];
  const endings: Ending[] = [];
  const hunt = new CanaryHunt(secrets);

  const start = async (index: number, changes: Partial<NodeSettings> = {}): Promise<Child> => {
    const settings: NodeSettings = {
      name: `node${index}`,
      role: options.role?.(index) ?? "all",
      store,
      modelUrl: `http://127.0.0.1:${model.port}`,
      apiKey,
      witnessPort: witness.port,
      leaseMs: options.leaseMs,
      ...(options.sweepMs === undefined ? {} : { sweepMs: options.sweepMs }),
      drainMs: options.drainMs ?? drainDefault,
      flaw: options.flaw,
      ...(ground.redisUrl === undefined ? {} : { redisUrl: ground.redisUrl }),
      ...changes,
    };
    const child = await startNode(settings, { ground, hunt, endings });
    nodes[index] = child;
    void child.ended.then((end) => {
      if (nodes[index] === child) nodes[index] = undefined;
      endings.push({ name: settings.name, end, complaints: child.complaints });
      if (child.complaints !== "") complaints.push(child.complaints);
    });
    return child;
  };
  await Promise.all(nodes.map((_, index) => start(index)));

  return {
    folder,
    ground,
    store,
    nodes,
    pick(random) {
      const alive = nodes.filter((node) => node?.isAlive);
      const node = alive[Math.floor(random() * alive.length)] ?? nodes.find(Boolean);
      return `http://127.0.0.1:${node?.port ?? 1}`;
    },
    start,
    async openStore() {
      const running = ground.isExclusive ? nodes.filter((node) => node !== undefined) : [];
      for (const node of running) node.signal("SIGTERM");
      await Promise.all(running.map(({ ended }) => ended));
      return openStore(store);
    },
    testimonies: async () => readTestimonies(await readFile(file, "utf8")),
    model: async () => (await model.ask<{ readonly report: ModelReport }>("report")).report,
    complaints,
    endings,
    hunt,
    remains: async () => [folder, ...((await ground.remains?.()) ?? [])],
    async close() {
      for (const node of nodes) node?.signal("SIGKILL");
      await Promise.all(nodes.map((node) => node?.ended));
      model.signal("SIGKILL");
      witness.signal("SIGKILL");
      await Promise.all([model.ended, witness.ended]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A node whose output is searched for secrets, and whose end is reported where it never became ready. */
async function startNode(
  settings: NodeSettings,
  { ground, hunt, endings }: { readonly ground: Ground; readonly hunt: CanaryHunt; readonly endings: Ending[] },
): Promise<Child> {
  const { name } = settings;
  const receive = (text: string): void => hunt.receive(`what ${name} prints`, text);
  try {
    return await startChild("node-process.ts", [JSON.stringify(settings)], { environment: ground.failingDisk?.environment, receive });
  } catch (error) {
    if (error instanceof FailedStart) endings.push({ name, end: error.end ?? "a start that took too long", complaints: error.message });
    throw error;
  }
}
