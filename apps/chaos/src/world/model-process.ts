/* A model server in a process of its own: does the job that the last user message asks for, refuses what a strict vendor would refuse. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Job, jobOfText, textOfJob, wordsOf } from "./job.ts";
import { refusalOf, textOfWire, type WireMessage } from "./model-rules.ts";

/** What the model server sends its parent. */
export interface ModelReport {
  /** Requests by job. */
  readonly requests: { readonly [job: string]: number };
  readonly refusals: readonly string[];
  /** Answers that have a reader. */
  readonly open: number;
  /** Calls that were sent on to another server, and requests that came there. */
  readonly redirected: number;
  readonly stolen: number;
  /** When the last answer was cut off by its reader, by the clock of the machine in milliseconds. */
  readonly cuts: { readonly [job: string]: number };
}

const requests: { [job: string]: number } = {};
const refusals: string[] = [];
const cuts: { [job: string]: number } = {};
let open = 0;
let redirected = 0;
let stolen = 0;

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish: string | null = null): string =>
  frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "chaos",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

/** The pieces of the answer to a conversation, and the time between them. */
function answerOf(
  messages: readonly WireMessage[],
): { readonly job: Job; readonly pieces: readonly string[]; readonly gapMs: number } | undefined {
  const asked = messages.findLastIndex(
    ({ role, ...message }) => role === "user" && jobOfText(textOfWire({ role, ...message })) !== undefined,
  );
  const job = asked < 0 ? undefined : jobOfText(textOfWire(messages[asked] as WireMessage));
  if (!job) return undefined;
  const turn = Math.min(messages.slice(asked).filter(({ role }) => role === "assistant").length, job.turns.length - 1);
  const { gapMs, calls = [] } = job.turns[turn] ?? { gapMs: 0 };
  const pieces = wordsOf(job, turn).map((content) => chunk({ content }));
  calls.forEach(({ tool, ms, task }, index) => {
    const args = JSON.stringify(task ? { task: textOfJob(task) } : { job: job.id, turn, index, ms });
    pieces.push(
      chunk({ tool_calls: [{ index, id: `call_${job.id}_${turn}_${index}`, type: "function", function: { name: tool, arguments: "" } }] }),
    );
    pieces.push(chunk({ tool_calls: [{ index, function: { arguments: args.slice(0, 9) } }] }));
    pieces.push(chunk({ tool_calls: [{ index, function: { arguments: args.slice(9) } }] }));
  });
  pieces.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop"));
  pieces.push(
    frame({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "chaos",
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: pieces.length, total_tokens: 10 + pieces.length },
    }),
  );
  pieces.push("data: [DONE]\n\n");
  return { job, pieces, gapMs };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function refuse(response: ServerResponse, message: string): void {
  refusals.push(message);
  response
    .writeHead(400, { "content-type": "application/json" })
    .end(JSON.stringify({ error: { message, type: "invalid_request_error" } }));
}

/** As vendors do that put the key into their complaint. */
function repeatKey(response: ServerResponse, key = "none"): void {
  const error = {
    message: `Incorrect API key provided: ${key}. Send another one.`,
    type: "invalid_request_error",
    code: "invalid_api_key",
  };
  response.writeHead(401, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

/** Answers like a model. A request to it is a failure of the experiment. */
const thief = createServer((_, response) => {
  stolen += 1;
  response.writeHead(200, { "content-type": "text/event-stream" }).end(`${chunk({ content: "Thank you" }, "stop")}data: [DONE]\n\n`);
});

function redirect(response: ServerResponse, status: number): void {
  redirected += 1;
  response.writeHead(status, { location: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/v1/chat/completions` }).end();
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages = [] } = JSON.parse(await bodyOf(request)) as { readonly messages?: readonly WireMessage[] };
  const refusal = refusalOf(messages);
  const answer = refusal === undefined ? answerOf(messages) : undefined;
  if (!answer) return refuse(response, refusal ?? "no job was asked for");
  const { job, pieces, gapMs } = answer;
  if (job.isRefused) return repeatKey(response, request.headers.authorization);
  if (job.redirect !== undefined) return redirect(response, job.redirect);
  requests[job.id] = (requests[job.id] ?? 0) + 1;
  open += 1;
  let isOver = false;
  response.on("close", () => {
    open -= 1;
    if (!isOver) cuts[job.id] = Date.now();
  });
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
  isOver = true;
  response.end();
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60_000;
thief.listen({ port: 0, host: "127.0.0.1" }, () => {
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
    process.send?.({ type: "ready", port: (server.address() as AddressInfo).port });
  });
});
process.on("message", () =>
  process.send?.({ type: "report", report: { requests, refusals, open, redirected, stolen, cuts } satisfies ModelReport }),
);
process.on("disconnect", () => process.exit(0));
