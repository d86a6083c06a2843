import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { Usage } from "@loopwright/core";
import { redisMissing, startRedis } from "@loopwright/simulator/node";
import { describe, expect, test } from "vitest";
import { emptyDirectory } from "./run-binary.ts";
import { startServer } from "./run-server.ts";

const missing = redisMissing();
if (missing) console.log(`quotas over nodes: skipped, ${missing}`);

const users = ["anne", "ben", "cleo"] as const;
const [userMax, scopeMax] = [16_000, 36_000];
/** No call of the offline model reads and writes more: that is what its reservation asks for. */
const callMax = 8_000;

/** A service that knows these users by their tokens. */
async function service(onEnd: (end: () => Promise<void>) => void): Promise<string> {
  const server = createServer((request, response) => {
    const user = /^Bearer (anne|ben|cleo)-token-of-the-day$/.exec(request.headers.authorization ?? "")?.[1];
    response.writeHead(user === undefined ? 401 : 200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ user, scope: "garden" }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/check`;
}

/** What every session of a user has spent, by the logs. */
async function spentBy(client: LoopwrightClient): Promise<number> {
  let tokens = 0;
  for (let before: string | undefined; ; ) {
    const { sessions, next } = await client.sessions.list(before === undefined ? {} : { before });
    for (const { usage } of sessions) tokens += totalOf(usage);
    if (next === undefined) return tokens;
    before = next;
  }
}

const totalOf = ({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0 }: Usage = {}): number => input + cacheRead + cacheWrite + output;

interface Quota {
  readonly account: string;
  readonly tokens: { readonly spent: number };
}

describe.skipIf(missing !== undefined)("quotas over two nodes on one Redis", () => {
  test("no user and no scope spends more than its quota and one call, whichever node answers, also over a restart", async ({
    onTestFinished: onEnd,
  }) => {
    const redis = await startRedis();
    onEnd(() => redis.stop());
    const url = await service(onEnd);
    const cwd = await emptyDirectory();
    const quotas = { "user/*/*": { tokens: userMax, per: "month" }, "scope/garden": { tokens: scopeMax, per: "month" } };
    await writeFile(join(cwd, "quotas.json"), JSON.stringify(quotas));
    const flags = ["--redis", redis.url, "--auth-url", url, "--auth-cache", "60", "--quotas", "quotas.json"];
    const nodes = await Promise.all([startServer({ cwd, flags, onEnd }), startServer({ cwd, flags, onEnd })]);
    const clientOf = (node: { readonly url: string }, user: string): LoopwrightClient =>
      createClient({ url: node.url, token: `${user}-token-of-the-day` });

    /** Asks anew until nothing more is answered. */
    const spend = async (client: LoopwrightClient): Promise<readonly string[]> => {
      const ends: string[] = [];
      while (ends.length < 400) {
        const { status, error } = await client.execute("Tell me what you can do, please.", { context: {} }).result();
        ends.push(error?.code ?? status);
        if (error) return ends;
      }
      throw new Error("The quota was never reached.");
    };
    const lanes = nodes.flatMap((node) => users.flatMap((user) => [spend(clientOf(node, user)), spend(clientOf(node, user))]));
    const ends = await Promise.all(lanes);
    expect(new Set(ends.map((all) => all.at(-1)))).toEqual(new Set(["LIMIT_REACHED"]));
    const answered = ends.flat().filter((end) => end === "completed").length;
    expect(answered).toBeGreaterThan(5);

    const [node, other] = nodes;
    const spent = await Promise.all(users.map((user) => spentBy(clientOf(node, user))));
    for (const one of spent) expect(one).toBeLessThanOrEqual(userMax + callMax);
    const sum = spent.reduce((total, one) => total + one, 0);
    expect(sum).toBeGreaterThan(scopeMax / 3);
    expect(sum).toBeLessThanOrEqual(scopeMax + callMax);

    const standing = async (at: { readonly url: string }, user: string): Promise<readonly (readonly [string, number])[]> => {
      const response = await fetch(new URL("api/quotas", at.url), { headers: { Authorization: `Bearer ${user}-token-of-the-day` } });
      const { quotas: found } = (await response.json()) as { readonly quotas: readonly Quota[] };
      return found.map(({ account, tokens }) => [account, tokens.spent]);
    };
    const expected = [
      ["user/garden/anne", spent[0]],
      ["scope/garden", sum],
    ];
    expect(await standing(node, "anne")).toEqual(expected);
    expect(await standing(other, "anne")).toEqual(expected);

    other.child.kill("SIGKILL");
    await other.ended;
    const again = await startServer({ cwd, flags, onEnd });
    expect(await standing(again, "anne")).toEqual(expected);
    console.log(`quotas over two nodes: ${answered} runs, ${sum} of ${scopeMax} tokens, by user ${spent.join(", ")} of ${userMax}`);
  });
});
