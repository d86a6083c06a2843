import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";

/** `npm test` has just built everything: a program starts faster from the builds of the packages it imports. */
const sources: readonly string[] = process.env["LOOPWRIGHT_BUILT"] === "1" ? [] : ["--conditions=@loopwright/source"];

// Whole processes are started here: on a busy machine they take their time.
vi.setConfig({ testTimeout: 60_000 });

const folder = fileURLToPath(new URL(".", import.meta.url));
const readme = await readFile(`${folder}../../packages/server/README.md`, "utf8");
const token = "0123456789abcdef-anne";

/** Starts the example on a free port, and gives its address. */
async function start(name: string): Promise<string> {
  const place = await mkdtemp(`${folder}run-`);
  onTestFinished(() => rm(place, { recursive: true }));
  for (const file of [name, "server.ts"]) {
    const code = await readFile(`${folder}${file}`, "utf8");
    await writeFile(`${place}/${file}`, code.replace("4200", "0"));
  }
  const child = spawn(process.execPath, [...sources, "--no-warnings", `${place}/${name}`], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ANNES_TOKEN: token },
  });
  onTestFinished(async () => {
    child.kill();
    await once(child, "exit");
  });
  return new Promise((resolve, reject) => {
    child.stdout.once("data", (line) => resolve(String(line).trim()));
    child.once("exit", (code) => reject(new Error(`The example ended with ${code}.`)));
  });
}

const examples = (await readdir(folder)).filter((name) => /^(hono|express|node)\.ts$/.test(name));

test("there is an example for Hono, for Express and for Node.js alone", () => {
  expect(examples).toEqual(["express.ts", "hono.ts", "node.ts"]);
});

test.each([...examples, "server.ts"])("the README of the server shows %s as it is", async (name) => {
  expect(readme).toContain(`\`\`\`ts\n${await readFile(`${folder}${name}`, "utf8")}\`\`\``);
});

test.each(examples)("%s answers for the app, and for its agents to authenticated callers", async (name) => {
  const url = await start(name);
  expect(await (await fetch(url)).text()).toBe("Your app.");
  const request = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/agents/api/agent/execute`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ sessionId: "a", context: {}, input: "Hi" }),
    });
  expect((await request({})).status).toBe(401);
  const answer = await request({ Authorization: `Bearer ${token}` });
  expect(answer.headers.get("Content-Type")).toBe("text/event-stream");
  const text = await answer.text();
  expect(text).toContain("Hello from inside your app.");
  expect(text.trimEnd().split("\n").at(-2)).toBe("event: execute_complete");
});
