import type { Agent, Tool, ToolContext, ToolEvent, ToolReturn } from "@loopwright/core";
import type { Dice } from "./dice.ts";
import type { SimulatedNode } from "./simulated-node.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { ToolStart, Witness } from "./witness.ts";

export interface WitnessedToolsOptions {
  readonly node: SimulatedNode;
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly witness: Witness;
  readonly isCalm: () => boolean;
  /** The longest that a tool takes, in virtual milliseconds. */
  readonly slowestMs: number;
  /** How long this tool takes instead. */
  readonly toolMs?: (tool: string) => number;
  /** An agent that a tool starts, as the simulated process runs it. */
  readonly below: (agent: Agent) => Agent;
}

/**
 * The tools as the simulated process runs them: each start is witnessed, takes virtual time and dies with the process. What they do, they do for
 * real and at once; time stands still meanwhile. A `lookup` is answered by the tool itself.
 */
export function witnessedTools(tools: readonly Tool[], options: WitnessedToolsOptions): readonly Tool[] {
  return tools.map((tool) => {
    const { execute, agents } = tool;
    if (!execute) return tool;
    const below = agents ? { agents: agents.map((agent) => options.below(agent as Agent)) } : {};
    return { ...tool, ...below, execute: (args: unknown, context: ToolContext) => run(tool, { args, context, options }) };
  });
}

interface Scene {
  readonly args: unknown;
  readonly context: ToolContext;
  readonly options: WitnessedToolsOptions;
}

/** When an abandoned tool still reports progress: before, during and after another owner's takeover. */
const lateWordsMs = [100, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

const stepMs = 250;

/** A new promise each time: a shared one would keep every caller that waits for it in memory. */
const never = (): Promise<never> => new Promise(() => {});

async function run(tool: Tool, { args, context, options }: Scene): Promise<Extract<ToolEvent, { type: "complete" }>> {
  const { node, time, dice, witness } = options;
  const { callKey, attempt } = context;
  const session = context.session.id;
  if (!node.does("tool-start", `${tool.name} ${callKey}`)) return never();
  const start = witness.toolStarted({ session, node: node.name, tool: tool.name, callKey, attempt, atMs: time.nowMs });
  const tookMs =
    options.toolMs?.(tool.name) ?? (dice.chance(0.2) ? dice.between(0, options.slowestMs) : dice.between(0, options.slowestMs / 20));
  // A tool that ignores its signal works on after it.
  const signal = dice.chance(0.7) ? context.signal : undefined;
  context.signal.addEventListener("abort", () => notifyOn(context, node), { once: true });
  const workMs = tookMs * dice.next();
  await workFor(node, workMs, signal);
  const child = Promise.withResolvers<void>();
  const place = withChildren(context, (agent) => {
    child.resolve();
    return options.below(agent);
  });
  const work = Promise.resolve().then(() => collect(tool.execute?.(args, place)));
  // A child takes its time: it works as the simulated process does.
  time.hold(Promise.race([work, child.promise]));
  const finish = (outcome: NonNullable<ToolStart["outcome"]>): void => {
    start.outcome = outcome;
    start.endedAtMs = time.nowMs;
  };
  try {
    const complete = await work;
    if (node.state === "dead") return never();
    if (!node.does("tool-end", `${tool.name} ${callKey}`)) return never();
    finish("ok");
    await workFor(node, tookMs - workMs);
    start.notifiedAtMs = time.nowMs;
    return complete;
  } catch (error) {
    finish("failed");
    throw error;
  }
}

/** The same context, which starts other agents than the tool names. */
function withChildren(context: ToolContext, below: (agent: Agent) => Agent): ToolContext {
  const child: ToolContext["child"] = (key, agent, ...more) => context.child(key, below(agent as Agent) as typeof agent, ...more);
  const spawn: ToolContext["spawn"] = (key, agent, ...more) => context.spawn(key, below(agent as Agent), ...more);
  return Object.create(context, { child: { value: child }, spawn: { value: spawn } }) as ToolContext;
}

/** Works in steps: a tool makes no progress while its process is paused. */
async function workFor(node: SimulatedNode, ms: number, signal?: AbortSignal): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) await node.sleep(Math.min(leftMs, stepMs), signal);
}

/**
 * An abandoned tool still reports progress when an abort or another owner has already written its end to the log. No client may receive
 * these reports.
 */
function notifyOn(context: ToolContext, node: SimulatedNode): void {
  for (const afterMs of lateWordsMs) void node.sleep(afterMs).then(() => context.progress("works on"));
}

/** What the tool gives, in one piece. */
async function collect(returned: ToolReturn | undefined): Promise<Extract<ToolEvent, { type: "complete" }>> {
  const value = await returned;
  if (!isStream(value))
    return isComplete(value) ? value : { type: "complete", output: value as Extract<ToolEvent, { type: "complete" }>["output"] };
  let text = "";
  const events = value[Symbol.asyncIterator]();
  for (;;) {
    const { done, value: event } = await events.next();
    if (done)
      return { type: "complete", output: event === undefined ? text : (event as Extract<ToolEvent, { type: "complete" }>["output"]) };
    if (event.type === "complete") return event;
    text += event.delta;
  }
}

const isStream = (value: unknown): value is AsyncIterable<ToolEvent, unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

const isComplete = (value: unknown): value is Extract<ToolEvent, { type: "complete" }> =>
  typeof value === "object" && value !== null && "type" in value && value.type === "complete" && "output" in value;
