import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { routeTable } from "../src/http/route-table.ts";
import { defaultServerLimits } from "../src/server-limits.ts";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
const guide = await readFile(new URL("../../../docs/http.md", import.meta.url), "utf8");

it("the example of the README answers the request of the README", async () => {
  const [, code = ""] = /```ts\n([\s\S]+?)```/.exec(readme) ?? [];
  expect(code).toContain("port: 4200");
  const folder = await mkdtemp(fileURLToPath(new URL("./readme-", import.meta.url)));
  await writeFile(`${folder}/example.ts`, code.replace("port: 4200", "port: 0"));
  const child = spawn(process.execPath, [...sources, `${folder}/example.ts`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (line) => resolve(String(line).trim().replace("Listening on ", "")));
      child.once("exit", (code) => reject(new Error(`The example ended with ${code}.`)));
    });
    const json = /-d '(.+)'/.exec(readme)?.[1] ?? "";
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body: json };
    expect(await (await fetch(`${url}/api/agent/execute`, sent)).text()).toContain("Hello from the server.");
  } finally {
    child.kill();
    await rm(folder, { recursive: true });
  }
});

it("the README names every limit", () => {
  for (const name of Object.keys(defaultServerLimits)) expect(readme).toContain(`\`${name}\``);
});

it("the guide shows every route", () => {
  for (const { method, path } of routeTable) expect(guide).toContain(`${method} ${path}`);
});
