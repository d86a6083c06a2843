import { Agent, request } from "node:http";
import type { Open } from "./contender.ts";
import { handWrittenLoop } from "./hand-written-loop.ts";
import { sseLines } from "./sse-lines.ts";

const agent = new Agent({ keepAlive: true });

/** `node:http` with kept connections, and server-sent events taken apart by hand: the least that a call costs on Node.js, without deadlines or retries. */
export const open: Open = async (opening) => {
  const url = new URL(`${opening.baseURL}/chat/completions`);
  const headers = { "content-type": "application/json", authorization: "Bearer bench" };
  return handWrittenLoop(
    (body, onChunk) =>
      new Promise<void>((resolve, reject) => {
        const call = request(url, { agent, method: "POST", headers }, (answer) => {
          if (answer.statusCode !== 200) reject(new Error(`The server answered ${answer.statusCode}.`));
          answer.setEncoding("utf8").on("data", sseLines(onChunk)).once("end", resolve).once("error", reject);
        });
        call.once("error", reject).end(JSON.stringify(body));
      }),
    opening,
  );
};
