import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@loopwright/core/memory";
import { runTool } from "@loopwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { childEnvironment } from "../secrets/child-environment.ts";
import { resolveSettings } from "../settings/settings.ts";
import { offerTools } from "./offer-tools.ts";

async function offered(list: unknown, environment: Readonly<Record<string, string>> = {}) {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-offer-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, "programs.json"), typeof list === "string" ? list : JSON.stringify(list));
  const settings = resolveSettings({ offline: true, programs: "programs.json" }, environment, directory);
  return offerTools(settings, { blobs: memoryStore().blobs, children: await childEnvironment(settings, environment) });
}

const printer = { name: "printenv", path: "/usr/bin/printenv", operands: { pattern: "[A-Z_]+" } };

test("C14, C51, C68: a program of the list gets the variables that it names, a KUBECONFIG as a path, and no other", async () => {
  const [tool] = await offered(
    { programs: [{ ...printer, variables: ["ACME_API_TOKEN", "KUBECONFIG"] }] },
    { ACME_API_TOKEN: "of the file", OTHER_TOKEN: "hidden", KUBECONFIG: "apiVersion: v1\n" },
  );
  if (!tool) throw new Error("There is no tool.");
  const of = async (name: string) => (await runTool(tool, { program: "printenv", args: [name] })).deltas.join("").split("\n")[0];
  expect(await of("ACME_API_TOKEN")).toBe("of the file");
  expect(await of("KUBECONFIG")).toMatch(/\/\.loopwright\/kubeconfig$/);
  expect(await of("OTHER_TOKEN")).toBe("");
});

test.each([
  ["no JSON", "{", "it is no JSON"],
  ["an unknown member", { programs: [{ ...printer, shell: true }] }, "programs.0"],
  ["no program", { programs: [] }, "programs"],
  ["a limit that is none", { programs: [printer], limits: { durationMs: 0 } }, "limits.durationMs"],
  ["a shell", { programs: [{ name: "sh", path: "/bin/sh", operands: "text" }] }, "starts other programs"],
])("a list with %s ends the start with what is wrong", async (_, list, message) => {
  await expect(offered(list)).rejects.toThrow(message);
});

test("a list that is not there ends the start", async () => {
  const settings = resolveSettings({ offline: true, programs: "none.json" }, {}, tmpdir());
  await expect(offerTools(settings, { blobs: memoryStore().blobs, children: {} })).rejects.toThrow("cannot be read: ENOENT");
});
