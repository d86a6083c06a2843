import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultMcpLimits, type McpStdioServer, type McpTools, mcpTools } from "../src/index.ts";
import { offeredTool } from "../src/offered-tool.ts";
import { StdioTransport } from "../src/stdio-transport.ts";
import { useMcp } from "./use-mcp.ts";

const program = fileURLToPath(new URL("hostile-server.ts", import.meta.url));

function hostile(more: Partial<McpStdioServer> = {}): McpTools {
  const server = { command: process.execPath, args: ["--conditions=@loopwright/source", program], ...more };
  const mcp = mcpTools({ servers: { odd: server }, limits: { retryMs: 0 } });
  onTestFinished(() => mcp.close());
  return mcp;
}

const call = (name: string) => ({ name: `odd__${name}` });

describe("M03: a server", () => {
  it("that asks for a model, a question to the user and folders, which it was not granted, is refused each time, and its call ends", async () => {
    const { results, status } = await useMcp(hostile(), [call("asks")]);
    expect(results[0]?.text).toContain(
      "elicitation/create-1 refused -32601; roots/list-1 refused -32601; sampling/createMessage-1 refused -32601",
    );
    expect([results[0]?.outcome, status]).toEqual(["ok", "completed"]);
  });

  it("that floods with notifications is served on, and its list of tools is read once for all of them", async () => {
    const events: string[] = [];
    const { results, status } = await useMcp(hostile(), [call("floods"), call("lists")], { events });
    expect(results[0]?.text).toContain("Flooded.");
    expect(results[1]?.text).toContain("Listed 2 times.");
    expect(status).toBe("completed");
    expect(events.join("")).not.toMatch(/flood"|unknown-/);
  });

  it("that answers under ids of others, or twice, changes no result but its own", async () => {
    const { results, status, log } = await useMcp(hostile(), [call("strange"), call("twice"), call("lists")]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
    expect(results[0]?.text).toContain("Mine.");
    expect(results[1]?.text).toContain("First.");
    expect(log).not.toMatch(/forged|Second\./);
    expect(status).toBe("completed");
  });

  it("that answers a call after its time changes nothing any more, and its next call has its own answer", async () => {
    const { results, status, log } = await useMcp(hostile({ timeoutMs: 5_000 }), [call("late"), call("after")]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
    expect(results[0]?.text).toContain("did not answer in time (timed_out)");
    expect(results[1]?.text).toContain("After.");
    expect(log).not.toContain("Too late");
    expect(status).toBe("completed");
  });

  it("that answers with 100 MB is ended at its limit, its call is an error, and the next call is served by a new process", async () => {
    const { results, status, log } = await useMcp(hostile(), [call("huge"), call("lists")]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["error", "ok"]);
    expect(log.length).toBeLessThan(100_000);
    expect(status).toBe("completed");
  });

  it("that writes a long answer in many pieces has it put together once, not once for each piece", async () => {
    const bytes = 8_000_000;
    const answer = `process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"text":"' + "x".repeat(${bytes}) + '"}}\\n'); setInterval(() => {}, 1000);`;
    const transport = new StdioTransport({
      ...{ command: process.execPath, args: ["-e", answer], variables: {}, directory: undefined },
      ...{ stderr: "ignore", bytesMax: 2 * bytes },
    });
    const copied: number[] = [];
    const concat = Buffer.concat.bind(Buffer);
    const copies = vi.spyOn(Buffer, "concat").mockImplementation((pieces, ...rest) => {
      const whole = concat(pieces, ...rest);
      if (pieces.length > 1) copied.push(whole.length);
      return whole;
    });
    onTestFinished(() => copies.mockRestore());
    const read = new Promise<unknown>((resolve) => {
      transport.onmessage = resolve;
    });
    await transport.start();
    expect(JSON.stringify(await read).length).toBeGreaterThan(bytes);
    await transport.close();
    expect(copied.reduce((sum, count) => sum + count, 0)).toBeLessThan(3 * bytes);
  });
});

describe("M02: a tool of a server", () => {
  it("whose description changes in a session is hidden from then on, with both digests, until it is taken again", async () => {
    const calls = [call("turns"), call("asks")];
    const hidden = await useMcp(hostile(), calls);
    expect(hidden.shown[0]).toContain("odd__asks");
    expect(hidden.shown[1]).not.toContain("odd__asks");
    expect(hidden.results[1]?.outcome).toBe("error");
    expect(hidden.log).toMatch(/its description or schema has changed in this session \(from the digest [0-9a-f]{16} to [0-9a-f]{16}\)/);
    expect(hidden.requests).not.toContain("send it all files");
    const taken = await useMcp(hostile({ onChange: "take" }), [call("turns")]);
    expect(taken.shown[1]).toContain("odd__asks");
  });

  it("is shown with at most 2,000 characters of its description, without those that people do not see, and with another digest for each of them", () => {
    const offered = (description: string) => {
      const tool = offeredTool("odd", { name: "pick", description, inputSchema: { type: "object" } }, defaultMcpLimits);
      if (typeof tool === "string") throw new Error(tool);
      return tool;
    };
    expect(offered("x".repeat(1_000_000)).description.length).toBeLessThan(2_200);
    const hidden = offered("Picks.\u200b\u202e\u2063\u{e0041} Now.");
    expect(hidden.description).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064]|[\u{e0000}-\u{e007f}]/u);
    const texts = ["x".repeat(1_000_000), `${"x".repeat(999_999)}y`, "Picks. Now.", "Picks.\u200b Now."];
    expect(new Set(texts.map((text) => offered(text).digest)).size).toBe(texts.length);
  });

  it("whose metadata has keys that reach into every object changes none, and is offered or left out", () => {
    const odd = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"owned":true},"constructor":{"prototype":{"owned":true}}},"__proto__":{"owned":true}}',
    );
    const tool = offeredTool("odd", { name: "__proto__", description: "x", inputSchema: odd }, defaultMcpLimits);
    expect("owned" in {}).toBe(false);
    if (typeof tool !== "string") expect(Object.getPrototypeOf(tool.parameters)).toBe(Object.prototype);
  });
});
