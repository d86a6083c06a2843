import { expect, it } from "vitest";
import { defineTool, execute } from "../src/index.ts";
import { calm } from "./harness.ts";
import { drive, nodes } from "./nodes.ts";
import { stoppable } from "./stoppable-clock.ts";

it("a node that had prepared an earlier attempt of a turn runs the calls of a later one by the tools that this one was shown", async () => {
  const ran: string[] = [];
  const toolOf = (name: string) =>
    defineTool({
      name,
      description: name,
      parameters: { type: "object" },
      replay: "pure",
      execute: () => {
        ran.push(name);
        return name;
      },
    });
  const [early, late] = [toolOf("early"), toolOf("late")];
  const scene = nodes({
    hooks: [{ name: "prepare", prepare: ({ attempt }) => ({ tools: [attempt === 1 ? early : late] }), gate: () => ({ action: "ask" }) }],
  });
  const [one, two] = [stoppable(scene.clock), stoppable(scene.clock)];
  const first = drive(scene.node({ clock: one }));
  execute(first, "go");
  await calm();
  expect(scene.model).toHaveLength(1);
  one.stop();
  drive(scene.node({ clock: two }));
  await scene.pass(30_000, 500);
  expect(scene.model).toHaveLength(2);
  scene.model[1]?.read([
    { type: "call-start", index: 0, id: "c1", name: "late" },
    { type: "end", stopReason: "tool_calls", raw: "tool_calls" },
  ]);
  // The digest of the arguments comes from the platform, in its own time.
  await expect.poll(async () => (await scene.types()).at(-1)).toBe("approval.requested");
  two.stop();
  one.wake();
  await scene.pass(5_000, 500);
  const [waiting] = (await scene.facts()).flatMap((fact) => (fact.type === "approval.requested" ? [fact.callKey] : []));
  await first.decide(waiting ?? "", { decision: "allow" });
  await scene.pass(5_000, 500);
  expect(ran).toEqual(["late"]);
});
