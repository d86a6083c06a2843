import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the vendor of models got. */
export interface VendorCall {
  readonly key: string;
  readonly body: string;
}

/** A server that speaks OpenAI's chat API and answers by the last message: it repeats words, calls tools, and repeats what tools gave. */
export interface Vendor {
  readonly url: string;
  readonly calls: readonly VendorCall[];
  close(): Promise<void>;
}

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly { readonly text?: string }[] }[];
}

/** Words of a user that make the model call a tool. */
const wishes: { readonly [word: string]: string } = { colour: "pick_colour", refund: "refund", stock: "look_up", breakage: "break_down" };
/** Words of a user that the vendor answers with an error, in which it repeats the key and the words. */
const refusals: { readonly [word: string]: number } = { forbidden: 401, malformed: 400 };

export async function startVendor(): Promise<Vendor> {
  const calls: VendorCall[] = [];
  const http = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => {
      body += part.toString();
    });
    request.on("end", () => {
      calls.push({ key: request.headers.authorization?.replace("Bearer ", "") ?? "", body });
      answer(JSON.parse(body) as ChatBody, response, calls.at(-1)?.key ?? "");
    });
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    calls,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}

function answer({ messages }: ChatBody, response: ServerResponse, key: string): void {
  const last = messages.at(-1);
  const text = typeof last?.content === "string" ? last.content : (last?.content ?? []).map((part) => part.text ?? "").join("");
  const refusal = last?.role === "user" ? Object.keys(refusals).find((word) => text.includes(word)) : undefined;
  if (refusal !== undefined) {
    response.writeHead(refusals[refusal] ?? 500, { "Content-Type": "application/json", "X-Echo": key });
    response.end(JSON.stringify({ error: { message: `Bad key ${key} or text ${text}`, type: "invalid_request_error" } }));
    return;
  }
  response.setHeader("Content-Type", "text/event-stream");
  const chunk = (delta: object, end: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: end }];
    response.write(`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices })}\n\n`);
  };
  const wish = last?.role === "user" ? Object.keys(wishes).find((word) => text.includes(word)) : undefined;
  if (wish === undefined) for (const word of `You say: ${text}`.split(/(?<= )/)) chunk({ content: word });
  else {
    const call = { name: wishes[wish] ?? "", arguments: JSON.stringify({ about: text }) };
    chunk({ tool_calls: [{ index: 0, id: `call-${messages.length}`, type: "function", function: call }] });
  }
  chunk({}, wish === undefined ? "stop" : "tool_calls");
  response.end("data: [DONE]\n\n");
}
