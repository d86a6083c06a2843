import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const guide = await readFile(new URL("../../../docs/access.md", import.meta.url), "utf8");
const as = (user: string, more: Record<string, string> = {}) => ({
  Authorization: `Bearer ${user}`,
  "Content-Type": "application/json",
  ...more,
});
const [anne, ben, jobs] = ["anne-0123456789abcdef", "ben-0123456789abcdefg", "jobs-0123456789abcdef"];

/** The program of docs/access.md, in a process of its own. */
describe("the program of docs/access.md", () => {
  let url = "";
  let end = async (): Promise<void> => {};
  beforeAll(async () => {
    const folder = await mkdtemp(join(import.meta.dirname, "docs-"));
    const program = join(folder, "server.ts");
    await writeFile(program, /```ts\n(.*?)```/s.exec(guide)?.[1] ?? "");
    const child = spawn(process.execPath, ["--conditions=@loopwright/source", program], { stdio: ["ignore", "pipe", "inherit"] });
    end = async () => {
      child.kill();
      await rm(folder, { recursive: true });
    };
    url = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (line) => resolve(String(line).trim().replace("Listening on ", "").replace(/\/$/, "")));
      child.once("exit", (code) => reject(new Error(`The program ended with ${code}.`)));
    });
  });
  afterAll(() => end());

  const send = (path: string, headers: Record<string, string>, json?: unknown, method = json === undefined ? "GET" : "POST") =>
    fetch(url + path, { method, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) });

  it("knows its callers, their teams and its services", async () => {
    expect(await (await send("/api/access", as(anne))).json()).toMatchObject({ user: "anne", scopes: ["garden", "kitchen"] });
    expect(await (await send("/api/access", as(jobs, { "X-Scope": "kitchen" }))).json()).toMatchObject({ user: "jobs", scope: "kitchen" });
    expect((await send("/api/access", {})).status).toBe(401);
  });

  it("shares sessions as the guide shows", async () => {
    expect((await send("/api/sessions", as(anne), { id: "roses" })).status).toBe(201);
    expect((await send("/api/sessions/roses", as(ben))).status).toBe(404);
    expect((await send("/api/sessions/roses/sharing", as(anne), { users: { ben: "member" } }, "PUT")).status).toBe(200);
    expect((await send("/api/sessions/roses", as(ben))).status).toBe(200);
    expect((await send("/api/sessions", as(anne, { "X-Scope": "kitchen" }), {})).status).toBe(403);
  });

  it("gives a cookie that stands for the token, and takes it back", async () => {
    const login = await send("/api/login", as(anne, { Origin: url }), undefined, "POST");
    const Cookie = (login.headers.get("Set-Cookie") ?? "").split(";")[0] ?? "";
    expect((await send("/api/sessions/roses", { Cookie })).status).toBe(200);
    expect((await send("/api/logout", { Cookie, Origin: url }, undefined, "POST")).status).toBe(204);
    expect((await send("/api/sessions/roses", { Cookie })).status).toBe(401);
  });
});
