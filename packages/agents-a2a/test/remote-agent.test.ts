import { agentTool, createAgent, createSession, execute, resume } from "@loopwright/core";
import { memoryStore, scripted } from "@loopwright/core/memory";
import { describe, expect, it } from "vitest";
import { type RemoteAgentOptions, remoteAgent } from "../src/index.ts";
import { legacyServer } from "./legacy-server.ts";
import { remoteServer } from "./remote-server.ts";

/** An agent that gives its task to the remote one. */
const leadOf = (card: string, fetchOf: RemoteAgentOptions["fetch"] = fetch) => {
  const provider = scripted(({ messages }) =>
    messages.at(-1)?.role === "tool_result" ? { text: "Done." } : { calls: [{ name: "remote", args: { task: "The weather?" } }] },
  );
  return {
    provider,
    agent: createAgent({ name: "lead", provider, tools: [agentTool({ agent: remoteAgent({ name: "remote", card, fetch: fetchOf }) })] }),
  };
};

/** The task that a message is for, as its agent has it. */
async function stateOf(input: string, init: RequestInit): Promise<string> {
  const { method, params } = JSON.parse(String(init.body)) as {
    readonly method: string;
    readonly params: { readonly message: { readonly taskId: string } };
  };
  const asked = { method: method.includes("/") ? "tasks/get" : "GetTask", params: { id: params.message.taskId } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...asked });
  return (await fetch(input, { ...init, body })).text();
}

describe.each([
  ["1.0", remoteServer],
  ["0.3", legacyServer],
])("a remote agent of A2A %s as a child", (version, remoteServer) => {
  const subscribes = version === "1.0" ? "SubscribeToTask" : "tasks/resubscribe";

  it("answers with the text of its task, whose id the log has", async () => {
    const { card, received } = await remoteServer(({ write, end }) => {
      write("It is ");
      write("raining.");
      end("COMPLETED");
    });
    const { agent, provider } = leadOf(card);
    const session = createSession({ agent, store: memoryStore() });
    expect(await execute(session, "The weather?").result()).toMatchObject({ status: "completed", text: "Done." });
    expect(received).toEqual(["The weather?"]);
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("It is raining.");
  });

  it("shows its question at the session at the top, and continues the task with the answer", async () => {
    const { card, received } = await remoteServer(({ isAnswer, text, write, end }) => {
      if (!isAnswer) return end("INPUT_REQUIRED", "Where?");
      write(`Rain in ${text}.`);
      end("COMPLETED");
    });
    const { agent, provider } = leadOf(card);
    const session = createSession({ agent, store: memoryStore() });
    const asked = await execute(session, "The weather?").result();
    const [call] = asked.pendingToolCalls ?? [];
    expect(call).toMatchObject({ agent: "remote", args: { question: "Where?" } });
    expect(await (await session.answer(call?.callKey ?? "", "Lisbon")).stream().result()).toMatchObject({ status: "completed" });
    expect(received).toEqual(["The weather?", "Lisbon"]);
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Rain in Lisbon.");
  });

  it("does not answer the second question of its task with the answer to the first, after a stream that was cut", async () => {
    const { card, received } = await remoteServer(({ isAnswer, text, write, end }) => {
      if (!isAnswer) return end("INPUT_REQUIRED", "Where?");
      if (text === "Lisbon") return end("INPUT_REQUIRED", "When?");
      write(`Rain in Lisbon, ${text}.`);
      end("COMPLETED");
    });
    let isCut = false;
    const cut = async (input: string, init: RequestInit): Promise<Response> => {
      const response = await fetch(input, init);
      if (isCut || !String(init.body).includes("Lisbon")) return response;
      isCut = true;
      // The remote agent has the answer: its response is lost, and it has asked again before the call is made anew.
      await expect.poll(async () => (await stateOf(input, init)).includes("When?"), { timeout: 20_000 }).toBe(true);
      throw new TypeError("The connection was reset.");
    };
    const { agent, provider } = leadOf(card, cut);
    const session = createSession({ agent, store: memoryStore() });
    const [where] = (await execute(session, "The weather?").result()).pendingToolCalls ?? [];
    const asked = await (await session.answer(where?.callKey ?? "", "Lisbon")).stream().result();
    const [when] = asked.pendingToolCalls ?? [];
    expect([isCut, when?.args["question"], received]).toEqual([true, "When?", ["The weather?", "Lisbon"]]);
    expect(await (await session.answer(when?.callKey ?? "", "tomorrow")).stream().result()).toMatchObject({ status: "completed" });
    expect(received).toEqual(["The weather?", "Lisbon", "tomorrow"]);
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("Rain in Lisbon, tomorrow.");
  });

  it("gives the answer of a task that ends before it is followed", async () => {
    const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
    const { card, received } = await remoteServer(({ write, end }) => {
      void isAsked.then(() => {
        write("It is raining.");
        end("COMPLETED");
      });
    });
    const late = async (input: string, init: RequestInit): Promise<Response> => {
      if (String(init.body).includes(subscribes)) {
        ask();
        const { id } = (JSON.parse(String(init.body)) as { readonly params: { readonly id: string } }).params;
        const body = JSON.stringify({
          ...JSON.parse(String(init.body)),
          method: version === "1.0" ? "GetTask" : "tasks/get",
          params: { id },
        });
        const isEnded = async (): Promise<boolean> => /completed/i.test(await (await fetch(input, { ...init, body })).text());
        await expect.poll(isEnded, { timeout: 20_000 }).toBe(true);
      }
      return fetch(input, init);
    };
    const { agent, provider } = leadOf(card, late);
    await execute(createSession({ agent, store: memoryStore() }), "The weather?").result();
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("It is raining.");
    expect(received).toHaveLength(1);
  });

  it("is canceled with its parent", async () => {
    const { card, received, canceled } = await remoteServer(({ write }) => write("It is"));
    const session = createSession({ agent: leadOf(card).agent, store: memoryStore() });
    const stream = execute(session, "The weather?");
    await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);
    await stream.abort();
    expect(await stream.result()).toMatchObject({ status: "aborted" });
    await expect.poll(() => canceled.length, { timeout: 20_000 }).toBe(1);
  });

  it("fails with the cause of its task, once", async () => {
    const { card, received } = await remoteServer(({ end }) => end("FAILED", "No sky."));
    const { agent, provider } = leadOf(card);
    await execute(createSession({ agent, store: memoryStore() }), "The weather?").result();
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain(
      "EXECUTOR_FAILED: The task of the remote agent is failed: No sky.",
    );
    expect(received).toHaveLength(1);
  });

  it("is followed again by another process, which begins no second task", async () => {
    const { promise: isBack, resolve: back } = Promise.withResolvers<void>();
    const { card, received } = await remoteServer(({ write, end }) => {
      write("It is ");
      void isBack.then(() => {
        write("raining.");
        end("COMPLETED");
      });
    });
    const store = memoryStore();
    let isFollowed = false;
    const watched = (input: string, init: RequestInit): Promise<Response> => {
      if (String(init.body).includes(subscribes)) isFollowed = true;
      return fetch(input, init);
    };
    const first = createSession({ id: "root", agent: leadOf(card, watched).agent, store });
    const lost = execute(first, "The weather?")
      .result()
      .catch(() => undefined);
    // The log has the id of the task before the task is followed.
    await expect.poll(() => isFollowed, { timeout: 20_000 }).toBe(true);
    await first[Symbol.asyncDispose]();
    await lost;
    const { agent, provider } = leadOf(card);
    const second = createSession({ id: "root", agent, store });
    const resumed = resume(second).result();
    back();
    expect(await resumed).toMatchObject({ status: "completed", text: "Done." });
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain("It is raining.");
    expect(received).toEqual(["The weather?"]);
  });
});

describe("the card of a remote agent", () => {
  it.each([
    ["another origin", [{ url: "http://127.0.0.2:1/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" }], "another origin"],
    ["another binding alone", [{ url: "/rpc", protocolBinding: "GRPC", protocolVersion: "1.0" }], "in version 1.0"],
    ["a version that is not spoken", [{ url: "/rpc", protocolBinding: "JSONRPC", protocolVersion: "2.0" }], "or 0.3"],
  ])("asks nothing of an agent whose card names %s", async (_, supportedInterfaces, words) => {
    const asked: string[] = [];
    const card = "http://127.0.0.1:1/card.json";
    const fetchOf = async (input: string): Promise<Response> => {
      asked.push(input);
      return Response.json({ supportedInterfaces });
    };
    const session = createSession({ agent: remoteAgent({ name: "remote", card, fetch: fetchOf }), store: memoryStore() });
    const { error } = await execute(session, "The weather?").result();
    expect([error?.code, error?.message]).toEqual(["EXECUTOR_FAILED", expect.stringContaining(words)]);
    expect(new Set(asked)).toEqual(new Set([card]));
  });
});
