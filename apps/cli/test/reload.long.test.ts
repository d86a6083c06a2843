import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "@loopwright/core";
import { expect, test } from "vitest";
import { emptyDirectory } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const serving = "Ctrl+C stops it";

test("SIGHUP has `run` take another configuration at the same address: a wrong one changes nothing, a right one counts, and an answer under way comes to its end", async () => {
  const cwd = await emptyDirectory();
  const file = join(cwd, "loopwright.yaml");
  await writeFile(file, "server: { assistant_mode: full-page }\n");
  const server = await startServer({ cwd, env: { LOOPWRIGHT_OFFLINE_PACE: "5" } });
  let errors = "";
  server.child.stderr?.on("data", (text: string) => {
    errors += text;
  });
  const agents = async (): Promise<number> => (await fetch(`${server.url}/api/agents`)).status;
  const before = await agents();
  await writeFile(file, "server: { assistant_mode: nowhere }\n");
  server.child.kill("SIGHUP");
  await expect.poll(() => errors, { timeout: 60_000 }).toContain("The configuration was not reloaded, and the one of before holds.");
  expect(errors).toContain("loopwright.yaml:1");
  expect(await agents()).toBe(before);

  const stream = server.client.execute("long answer", { context: {} });
  for await (const event of stream) if (event.type === "text_delta") break;
  await writeFile(file, "server: { shutdown_timeout: 0, log_json: false }\nagent: main-thread\n");
  server.child.kill("SIGHUP");
  await server.prints("The configuration was read again.");
  await expect.poll(() => server.prints("").then((text) => text.split(serving).length), { timeout: 60_000 }).toBe(3);
  const found = (await (await fetch(`${server.url}/api/agents`)).json()) as { readonly agents: readonly { readonly name: string }[] };
  expect(found.agents[0]?.name).toBe("main-thread");
  const { messages } = await stream.result();
  const last = messages.at(-1);
  expect(last?.role === "assistant" && textOf(last)).toContain("The end");

  // One whose start fails: the earlier one is taken again.
  await writeFile(file, "tools: missing.mjs\n");
  server.child.kill("SIGHUP");
  await expect
    .poll(() => errors, { timeout: 60_000 })
    .toContain("The new configuration does not start, so the earlier one is taken again.");
  await expect.poll(() => server.prints("").then((text) => text.split(serving).length), { timeout: 60_000 }).toBe(4);
  expect(await agents()).toBe(200);
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/Stopped\.\n$/) });
});
