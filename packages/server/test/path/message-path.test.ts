import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";

/** A call of a function; `by` is the place of its caller in the list, -1 for none. */
interface CallOf {
  readonly id: string;
  readonly by: number;
}

const hopsMax = 55;
const program = fileURLToPath(new URL("./message-path.ts", import.meta.url));
const page = fileURLToPath(new URL("../../../../ARCHITECTURE.md", import.meta.url));
const [opens, closes] = ["<!-- made by packages/server/test/path -->\n", "<!-- end -->"];

const fileOf = ({ id }: CallOf): string => id.split(" ")[0] ?? "";
const folderOf = (call: CallOf): string => fileOf(call).split("/").slice(0, -1).join("/");

/** Calls from the handler of requests down to the append of the store. */
function chainOf(calls: readonly CallOf[]): ReadonlySet<number> {
  const chain = new Set<number>();
  const append = calls.findIndex(({ id }) => id === "the store append");
  for (let at = append; at >= 0; at = calls[at]?.by ?? -1) chain.add(at);
  return chain;
}

/** The chain, and what its members call in other files: to follow the request, a reader goes to each of these. What the store does is its own. */
function hopsOf(calls: readonly CallOf[]): readonly { readonly id: string; readonly isStep: boolean }[] {
  const chain = chainOf(calls);
  const hops = new Map<string, boolean>();
  for (const [at, call] of calls.entries()) {
    const caller = calls[call.by];
    const isStep = !chain.has(at) && chain.has(call.by) && caller?.id !== "the store append" && caller && fileOf(caller) !== fileOf(call);
    if ((chain.has(at) || isStep) && !hops.has(call.id)) hops.set(call.id, !chain.has(at));
  }
  return [...hops].map(([id, isStep]) => ({ id, isStep }));
}

/** The list as ARCHITECTURE.md has it: a line for each file that the request comes to, steps in brackets. */
function drawn(calls: readonly CallOf[]): string {
  const lines: { readonly file: string; readonly names: string[] }[] = [];
  const hops = hopsOf(calls);
  for (const { id, isStep } of hops) {
    const [file = "", ...name] = id.split(" ");
    const shown = isStep ? `(${name.join(" ")})` : name.join(" ");
    if (lines.at(-1)?.file === file) lines.at(-1)?.names.push(shown);
    else lines.push({ file, names: [shown] });
  }
  const width = Math.max(...lines.map(({ file }) => file.length)) + 2;
  return `\`\`\`\n${lines.map(({ file, names }) => `${file.padEnd(width)}${names.join(", ")}`).join("\n")}\n\`\`\`\n${hops.length} hops.\n`;
}

describe("the path of a message over HTTP, as its functions are entered", () => {
  let calls: readonly CallOf[] = [];

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=@loopwright/source", "--no-warnings", program], {
      maxBuffer: 16 * 1024 * 1024,
    });
    const traced = JSON.parse(stdout) as { readonly status: number; readonly calls: readonly CallOf[] };
    expect(traced.status).toBe(202);
    calls = traced.calls;
  });

  it(`has at most ${hopsMax} hops to the store and back`, () => {
    expect(calls.some(({ id }) => id === "the store append")).toBe(true);
    expect(hopsOf(calls).length).toBeLessThanOrEqual(hopsMax);
  });

  it("is drawn in ARCHITECTURE.md", () => {
    const text = readFileSync(page, "utf8");
    const [from, to] = [text.indexOf(opens) + opens.length, text.indexOf(closes)];
    expect(text).toContain(opens);
    if (process.env["LOOPWRIGHT_WRITE_PATH"] === "1") writeFileSync(page, text.slice(0, from) + drawn(calls) + text.slice(to));
    else expect(text.slice(from, to), "LOOPWRIGHT_WRITE_PATH=1 writes the list anew").toBe(drawn(calls));
  });

  it("enters each folder of the server once before the handler of the route", () => {
    const handler = calls.findIndex(({ id }) => id.endsWith("/submit-message.ts handle"));
    const folders: string[] = [];
    for (const call of calls.slice(0, handler).filter((one) => one.id.startsWith("server/"))) {
      // The composition of the server stands above all folders.
      const folder = folderOf(call);
      if (folder !== "server" && folders.at(-1) !== folder) folders.push(folder);
    }
    expect(folders).toEqual(["http", "identity", "meters", "request", "permissions", "routes"].map((name) => `server/${name}`));
  });

  it("scans the body once for depth, keys and numbers, and checks the shape of the input once", () => {
    const named = (name: string): readonly CallOf[] => calls.filter(({ id }) => id.endsWith(` ${name}`));
    expect(named("findJsonFlaw").filter(({ by }) => !calls[by]?.id.endsWith(" findJsonFlaw"))).toHaveLength(1);
    expect(named("inputFlaw")).toHaveLength(1);
    expect(named("userMessageFlaw").length + named("resultFlaw").length).toBeLessThanOrEqual(1);
  });
});
