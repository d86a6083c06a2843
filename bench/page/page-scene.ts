import { fileURLToPath } from "node:url";
import { createClient } from "@loopwright/client";
import { createAgent, type Message } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { createRuntime } from "@loopwright/host";
import { createServer } from "@loopwright/server";
import { listen, staticFiles } from "@loopwright/server/node";

/** The built page. */
export const pageFolder: string = fileURLToPath(new URL("../../apps/web/dist", import.meta.url));

/** Milliseconds from one delta to the next: 50 a second. */
export const deltaEveryMs = 20;

/** A server with the page, and sessions as long as one wants. */
export interface PageScene {
  readonly url: string;
  /** A session with so many messages; its address in the page. */
  session(messages: number): Promise<string>;
  /** Begins an answer of so many deltas in the session of that address. */
  answer(address: string, deltas: number): Promise<void>;
  close(): Promise<void>;
}

const words = "the log of a session keeps every fact in order so that whoever comes late can read what happened and go on".split(" ");

/** Some words, the same for the same place. */
const prose = (place: number, count: number): string =>
  Array.from({ length: count }, (_, word) => words[(place * 7 + word * 3) % words.length]).join(" ");

/** One delta: a few words, now and then the end of a block, so that an answer is made of many. */
function deltaAt(place: number): string {
  if (place % 40 === 39) return "\n\n```ts\nconst fact = log.next();\n```\n\n";
  if (place % 20 === 19) return `.\n\n- **${prose(place, 2)}**: ${prose(place + 1, 3)}\n`;
  return ` ${prose(place, 4)}${place % 10 === 9 ? ".\n\n" : ""}`;
}

/** A model that answers what it is asked for at an even pace: `deltas 250`. */
const pacedModel: ModelProvider = {
  name: "paced",
  defaultModel: "paced-1",
  capabilities: () => ({ streaming: true, tools: false, vision: false, promptCaching: false }),
  async *stream({ messages }, { signal }) {
    const count = Number(/deltas (\d+)/.exec(JSON.stringify(messages.at(-1)))?.[1]);
    const start = performance.now();
    for (let place = 0; place < count; place++) {
      const waitMs = start + place * deltaEveryMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      signal.throwIfAborted();
      yield [{ type: "text", index: 0, delta: deltaAt(place) }];
    }
    yield [{ type: "end", stopReason: "stop" }];
  },
};

function history(count: number): readonly Message[] {
  return Array.from({ length: count }, (_, place) =>
    place % 2 === 0
      ? { role: "user", content: prose(place, 8 + (place % 20)) }
      : {
          role: "assistant",
          content: [{ type: "text", text: `**${prose(place, 2)}**\n\n${prose(place, 10 + ((place * 7) % 40))}` }],
          stopReason: "stop",
        },
  );
}

/** The page on a server of its own, everything in memory. */
export async function createPageScene(): Promise<PageScene> {
  const server = createServer({
    runtime: createRuntime({ agents: [createAgent({ name: "demo", provider: pacedModel })] }),
    page: staticFiles(pageFolder),
  });
  const listening = await listen(server);
  const { url } = listening;
  const client = createClient({ url });
  return {
    url: `${url}/`,
    async session(messages) {
      const { sessionId } = await client.sessions.create({ context: { messages: history(messages) } });
      return `${url}/#/c/${sessionId}`;
    },
    async answer(address, deltas) {
      await client.sessions.submit(address.split("/").at(-1) ?? "", `deltas ${deltas}`);
    },
    async close() {
      await server.close();
      await listening.close();
    },
  };
}
