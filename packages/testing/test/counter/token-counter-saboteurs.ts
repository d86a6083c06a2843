import { characterCounter } from "@loopwright/core/memory";
import type { CountedPart, TokenCounter } from "@loopwright/core/ports";
import type { CounterUnderTest } from "../../src/counter/token-counter-kit.ts";
import type { Saboteur } from "../../src/kit/saboteur.ts";

const real = characterCounter();

/** An honest counter for the kit. */
export const makeCharacterCounter = async (): Promise<CounterUnderTest> => ({ counter: real, model: "any" });

const spoiled = (count: (part: CountedPart, honest: number) => number) => async (): Promise<CounterUnderTest> => {
  const counter: TokenCounter = { count: (model, part) => count(part, real.count(model, part) as number) };
  return { counter, model: "any" };
};

let calls = 0;

/** Defects of token counters. */
export const tokenCounterSaboteurs: readonly Saboteur<CounterUnderTest>[] = [
  { defect: "has no number for an empty text", breaks: ["number"], make: spoiled((part, count) => (part === "" ? Number.NaN : count)) },
  { defect: "counts on from part to part", breaks: ["same"], make: spoiled((_, count) => count + (++calls % 7)) },
  { defect: "stops at a thousand characters", breaks: ["proportion"], make: spoiled((_, count) => Math.min(count, 250)) },
  { defect: "takes every part for one token", breaks: ["places", "proportion"], make: spoiled(() => 1) },
  {
    defect: "does not look into JSON",
    breaks: ["places"],
    make: spoiled((part, count) =>
      typeof part !== "string" && part.role === "tool_result" && typeof part.content !== "string" ? 5 : count,
    ),
  },
  {
    defect: "overlooks the arguments of calls",
    breaks: ["places"],
    make: spoiled((part, count) =>
      typeof part !== "string" && part.role === "assistant" && part.content.some(({ type }) => type === "tool_call") ? 5 : count,
    ),
  },
  {
    defect: "counts the bytes of an image as text",
    breaks: ["media"],
    make: spoiled((part, count) => count + (JSON.stringify(part).includes('"image"') ? JSON.stringify(part).length / 4 : 0)),
  },
];
