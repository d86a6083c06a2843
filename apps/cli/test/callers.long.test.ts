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
const [anne, internal] = ["anne-token-of-the-day", "internal-0123456789abcdef"];

describe("a server whose callers a service checks", () => {
  test("C48, C49: serves those that it lets in, as docs/access.md shows, and no one while it is down, but for the internal token", async ({
    onTestFinished: onEnd,
  }) => {
    const service = createServer((request, response) => {
      const isAnne = request.headers.authorization === `Bearer ${anne}`;
      response.writeHead(isAnne ? 200 : 401, { "Content-Type": "application/json" });
      response.end(isAnne ? '{"user":"anne"}' : "{}");
    });
    await new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/check`;
    const cwd = await emptyDirectory();
    const server = await startServer({ onEnd, cwd, flags: shownFlags(url), env: { LOOPWRIGHT_INTERNAL_TOKEN: internal } });
    const written = await server.prints("The page asks for them.");
    expect(written).toContain(`tokens that ${new URL(url).origin} accepts, from services of this machine the internal token`);
    const statusFor = async (token?: string): Promise<number> =>
      (await fetch(`${server.url}/api/sessions`, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })).status;
    expect([await statusFor(anne), await statusFor("ben"), await statusFor(), await statusFor(internal)]).toEqual([200, 401, 401, 200]);
    const asked = await run(["ask", "--url", server.url, "6 * 7"], { cwd, env: { LOOPWRIGHT_TOKEN: anne } });
    expect(asked.stdout).toContain("42");
    service.closeAllConnections();
    await new Promise((resolve) => void service.close(resolve));
    expect([await statusFor(anne), await statusFor(internal)]).toEqual([503, 200]);
    server.child.kill("SIGTERM");
    const { stdout, stderr } = await server.ended;
    for (const token of [anne, internal]) expect(stdout + stderr + asked.stderr).not.toContain(token);
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
