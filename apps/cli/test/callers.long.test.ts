import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { emptyDirectory, run } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const guide = await readFile(new URL("../../../docs/access.md", import.meta.url), "utf8");
/** The flags of the command that the guide shows, with this address for the service. */
const shownFlags = (url: string): readonly string[] =>
  (/^loopwright run (.+)$/m.exec(guide)?.[1] ?? "").replace(/http:\S+/, url).split(" ");
const [anne, ben, internal] = ["anne-token-of-the-day", "ben-token-of-the-day", "internal-0123456789abcdef"];

/** A service that knows Anne and Ben; ends with the test. */
async function service(onEnd: (end: () => Promise<void>) => void): Promise<{ readonly url: string; end(): Promise<void> }> {
  const server = createServer((request, response) => {
    const user = /^Bearer (anne|ben)-token-of-the-day$/.exec(request.headers.authorization ?? "")?.[1];
    response.writeHead(user === undefined ? 401 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ user }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  };
  onEnd(end);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`, end };
}

describe("a server whose callers a service checks", () => {
  test("C40, C48, C49: serves those that it lets in, as docs/access.md shows, and no one while it is down, but for the internal token", async ({
    onTestFinished: onEnd,
  }) => {
    const { url, end } = await service(onEnd);
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, flags: shownFlags(url), env: { LOOPWRIGHT_INTERNAL_TOKEN: internal } });
    const written = await server.prints("The page asks for them.");
    expect(written).toContain(`tokens that ${new URL(url).origin} accepts, from services of this machine the internal token`);
    const statusFor = async (token?: string): Promise<number> =>
      (await fetch(`${server.url}/api/sessions`, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })).status;
    expect([await statusFor(anne), await statusFor("carl"), await statusFor(), await statusFor(internal)]).toEqual([200, 401, 401, 200]);
    const asked = await run(["ask", "--url", server.url, "6 * 7"], { cwd, env: { LOOPWRIGHT_TOKEN: anne } });
    expect(asked.stdout).toContain("42");
    await end();
    expect([await statusFor(anne), await statusFor(internal)]).toEqual([503, 200]);
    server.child.kill("SIGTERM");
    const { stdout, stderr } = await server.ended;
    for (const token of [anne, internal]) expect(stdout + stderr + asked.stderr).not.toContain(token);
  });

  test("has private sessions, and notes refusals, when the audit log records verdicts", async ({ onTestFinished: onEnd }) => {
    const { url } = await service(onEnd);
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, flags: [...shownFlags(url), "--audit"] });
    const statusFor = async (token: string, path: string, init: RequestInit = {}): Promise<number> =>
      (await fetch(`${server.url}${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } }))
        .status;
    expect(await statusFor(anne, "/api/sessions", { method: "POST", body: '{"id":"annes"}' })).toBe(201);
    expect([await statusFor(anne, "/api/sessions/annes"), await statusFor(ben, "/api/sessions/annes")]).toEqual([200, 404]);
    server.child.kill("SIGTERM");
    await server.ended;
    const { stdout } = await run(["audit", "list", "garden", "--json"], { cwd });
    const entries = stdout
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(entries).toContainEqual(expect.objectContaining({ user: "ben", action: "session.read", verdict: "refused", session: "annes" }));
  });

  test("is not begun with settings that would let others in", async () => {
    const cwd = await emptyDirectory();
    for (const [flags, what] of [
      [["--jwt-issuer", "https://issuer.example"], "needs an audience"],
      [["--auth-url", "http://verdicts.example/check"], "neither `https:` nor on this machine"],
      [["--auth-cache", "10"], "has no effect without --auth-url"],
    ] as const) {
      const { code, stderr } = await run(["run", "--offline", "--port", "0", ...flags], { cwd });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/^.+ \(CONFIG_INVALID\)\nwhy: .+\ntry: .+\n$/)]);
      expect(stderr).toContain(what);
    }
  });
});
