import {
  type AcceptedDecision,
  type Agent,
  type AgentEvent,
  type AgentSettings,
  type ApprovalDecision,
  createAgent,
  type ExecuteInput,
  type ExecuteOptions,
  type ExecuteStream,
  type Message,
  type Tool,
} from "@loopwright/core";
import { fixedPrices, type ScriptedProvider, type ScriptedStep, scripted } from "@loopwright/core/memory";
import type { Make, StoreCase } from "../kit/store-case.ts";

/** Sessions of one agent, wherever it runs. */
export interface ExecutePlace {
  /** As `execute` of core does it, in the session of this id, which begins with its first input. */
  execute(sessionId: string, input: ExecuteInput, options?: ExecuteOptions): ExecuteStream;
  /** As `decide` of a session does it. */
  decide(sessionId: string, callKey: string, decision: ApprovalDecision): Promise<AcceptedDecision>;
  /** The path from the root to the head. */
  transcript(sessionId: string): Promise<readonly Message[]>;
  close(): Promise<void>;
}

/** A way to run agents: in process, or over a wire. */
export interface ExecuteUnderTest {
  /** An agent with an empty store. */
  serve(agent: Agent): Promise<ExecutePlace>;
}

/** What a case of the execute kit works with. */
export interface ExecuteScene extends ExecutePlace {
  readonly model: ScriptedProvider;
  /** Opens the gate that the script may wait for. */
  release(): void;
}

export interface SceneOptions extends Partial<Omit<AgentSettings, "name">> {
  readonly script: readonly ScriptedStep[] | ((gate: Promise<void>) => readonly ScriptedStep[]);
}

/** A case of the execute kit: an agent over a scripted model, whose calls cost something. */
export function executeCase(
  { id, promise }: Pick<StoreCase<ExecuteUnderTest>, "id" | "promise">,
  { script, ...options }: SceneOptions,
  check: (scene: ExecuteScene) => Promise<void>,
): StoreCase<ExecuteUnderTest> {
  const run = async (make: Make<ExecuteUnderTest>): Promise<void> => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const model = scripted(typeof script === "function" ? script(gate) : script, { chunkSize: 4 });
    const prices = fixedPrices({ "scripted-1": { inputUsd: 1_000, outputUsd: 2_000 } });
    const place = await (await make()).serve(createAgent({ name: "tester", provider: model, prices, ...options }));
    try {
      await check({ ...place, model, release });
    } finally {
      await place.close();
    }
  };
  return { id, promise, run };
}

/** A tool that answers at once. */
export const clockTool: Tool = {
  name: "clock",
  description: "Tells the time.",
  parameters: { type: "object" },
  execute: () => "noon",
};

/** A tool that its caller runs. */
export const pickTool: Tool = {
  name: "pick",
  description: "Lets the user pick.",
  parameters: { type: "object" },
};

/** A stream being read, as a watcher sees it. */
export interface Reading {
  readonly events: readonly AgentEvent[];
  /** Resolves when an event of the type has come, rejects when the stream ended without. */
  seen(type: AgentEvent["type"]): Promise<void>;
  /** Every event, once the stream has ended. */
  readonly all: Promise<readonly AgentEvent[]>;
}

/** Begins to read. */
export function reading(stream: ExecuteStream): Reading {
  const events: AgentEvent[] = [];
  const waiting = new Map<string, Set<(isThere: boolean) => void>>();
  const notify = (type: string, isThere: boolean): void => {
    for (const resolve of waiting.get(type) ?? []) resolve(isThere);
    waiting.delete(type);
  };
  const all = (async () => {
    try {
      for await (const event of stream) {
        events.push(event);
        notify(event.type, true);
      }
      return events;
    } finally {
      for (const type of [...waiting.keys()]) notify(type, false);
    }
  })();
  all.catch(() => {});
  return {
    events,
    all,
    async seen(type) {
      if (events.some((event) => event.type === type)) return;
      const isThere = await new Promise<boolean>((resolve) => {
        const resolves = waiting.get(type) ?? new Set();
        waiting.set(type, resolves.add(resolve));
        void all.then(
          () => resolve(false),
          () => resolve(false),
        );
      });
      if (!isThere && !events.some((event) => event.type === type)) throw new Error(`The stream ended without ${type}.`);
    },
  };
}

/** Every event of a stream. */
export const readAll = (stream: ExecuteStream): Promise<readonly AgentEvent[]> => reading(stream).all;

/** The events of one type. */
export function ofType<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): readonly Extract<AgentEvent, { readonly type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { readonly type: Type }> => event.type === type);
}
