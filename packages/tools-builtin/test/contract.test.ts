import type { JsonObject } from "@loopwright/core";
import { runKit, type ToolSubject, toolKit } from "@loopwright/testing";
import { describe, it } from "vitest";
import { builtinTools } from "../src/index.ts";

const streaming = { capability: "streaming", reason: "its answer is short" };
const csv = `n,text\n${Array.from({ length: 500 }, (_, at) => `${at},${"x".repeat(30)}`).join("\n")}`;

const subjects: readonly [name: string, args: JsonObject, failingArgs: JsonObject][] = [
  ["current_time", { timeZone: "Asia/Tokyo" }, { timeZone: "Nowhere/Land" }],
  ["calculate", { expression: "1 + 1" }, { expression: "1 +" }],
  ["new_uuid", { count: 3 }, {}],
  ["json_query", { json: '{"a":[1,2]}', path: "a[*]" }, { json: "{" }],
  ["csv_to_json", { csv }, { csv: 'a\n"' }],
];

describe.each(subjects)("%s keeps the promises of a tool", (name, args, failingArgs) => {
  const make = async (): Promise<ToolSubject> => {
    const tool = builtinTools({ clock: { now: () => 0 } }).find((candidate) => candidate.name === name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return { tool, args, failingArgs };
  };
  const lacks = name === "csv_to_json" ? [] : [streaming];
  const failing = { capability: "failing", reason: "nothing can go wrong in it" };
  runKit(it, toolKit, { make, lacks: name === "new_uuid" ? [...lacks, failing] : lacks });
});
