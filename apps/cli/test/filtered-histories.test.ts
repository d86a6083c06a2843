import { type DataPolicy, defineTool, execute, type ToolEvent } from "@loopwright/core";
import { type ScriptedTurn, seededRandom } from "@loopwright/core/memory";
import type { ModelRequest } from "@loopwright/core/ports";
import { describe, expect, it } from "vitest";
import { world } from "../../../packages/context/test/harness.ts";
import { bodiesOf, vendors } from "./strict-vendors.ts";

const seeds = Array.from({ length: Number(process.env["LOOPWRIGHT_FILTERED_HISTORIES"] ?? 12) }, (_, at) => at + 1);

interface Draw {
  readonly below: (limit: number) => number;
  readonly pick: <Item>(items: readonly Item[]) => Item;
}

function drawOf(seed: number): Draw {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  return { below, pick: (items) => items[below(items.length)] as never };
}

const toolNames = ["look", "fail", "show"] as const;

/** A policy: each part of it is stored, not stored, or stored for some tools. */
function policyOf({ pick }: Draw): DataPolicy {
  const some = pick(toolNames);
  const tools = [true, false, { only: [some] }, { without: [some] }] as const;
  return { text: pick([true, false]), calls: pick(tools), results: pick(tools) };
}

const parameters = { type: "object", properties: { at: { type: "string" } } } as const;
const tools = [
  defineTool({ name: "look", description: "Looks.", parameters, execute: ({ at = "" }: { at?: string }) => `secret ${at}` }),
  defineTool({
    name: "fail",
    description: "Fails.",
    parameters,
    execute: () => {
      throw new Error("secret");
    },
  }),
  defineTool({
    name: "show",
    description: "Shows more than later runs read.",
    parameters,
    execute: (): ToolEvent => ({ type: "complete", output: "secret secret place", summary: "secret in short" }),
  }),
];

/** What a model does in one turn: text, thinking, calls that fit or not, a cut answer, a failure that is tried again. */
function turnOf({ below, pick }: Draw, hasTools: boolean): ScriptedTurn {
  const text = below(3) === 0 ? {} : { text: pick(["secret thought", " ", "secret\n🙂"]) };
  const thinking = below(3) === 0 ? { thinking: "secret reasoning" } : {};
  const calls = Array.from({ length: hasTools ? below(4) : 0 }, () => ({
    name: pick([...toolNames, "unknown"]),
    ...(below(6) === 0 ? { argsText: "{" } : { args: { at: "secret place" } }),
  }));
  if (calls.length > 0) return { ...thinking, ...text, calls };
  if (below(8) === 0) return { ...thinking, text: "secret half", error: "MODEL_REFUSED" };
  return { ...thinking, text: pick(["secret answer", "secret"]), ...(below(5) === 0 ? { stopReason: "length" } : {}) };
}

/** The requests of a random session of an agent with a random policy, some of whose inputs another process answers. */
async function played(
  seed: number,
): Promise<{ readonly requests: readonly ModelRequest[]; readonly policy: DataPolicy; readonly log: string }> {
  const draw = drawOf(seed);
  const policy = policyOf(draw);
  const requests: ModelRequest[] = [];
  const script = (request: ModelRequest): ScriptedTurn => {
    requests.push({ ...request, messages: [...request.messages] });
    return turnOf(draw, request.tools !== undefined);
  };
  const made = world(script as never, {
    tools: tools as never,
    data: policy,
    contextTokens: draw.pick([2_000, 100_000]),
    limits: { turnsMax: 4 },
  });
  let session = made.session;
  for (let input = 0; input < 6; input++) {
    if (draw.below(3) === 0) session = made.again();
    await execute(session, `Question ${input}.`).result();
  }
  const facts = await made.store.log.read({ scope: "local", session: "s1" });
  return { requests, policy, log: JSON.stringify(facts) };
}

describe.each(seeds)("B80, B82: a session of an agent with a data policy (seed %d)", (seed) => {
  it("has requests that break no rule of any vendor, and a log without what is not stored", async () => {
    const { requests, policy, log } = await played(seed);
    expect(requests.length).toBeGreaterThanOrEqual(6);
    for (const vendor of vendors) {
      const bodyOf = bodiesOf(vendor);
      for (const [at, request] of requests.entries()) {
        const violations = vendor.violationsOf(await bodyOf(request));
        expect({ vendor: vendor.name, at, policy, violations }).toEqual({ vendor: vendor.name, at, policy, violations: [] });
      }
    }
    if (policy.text === false) expect(log).not.toMatch(/secret (thought|answer|reasoning|half)/);
    if (policy.calls === false) expect(log).not.toContain('"at":"secret place"');
    if (policy.results === false) expect(log).not.toMatch(/"secret secret place"|secret in short/);
  });
});
