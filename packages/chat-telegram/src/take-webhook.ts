import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ReportProblem } from "@loopwright/chat-kit";
import type { Update } from "grammy/types";
import { webhookBytesMax } from "./telegram-limits.ts";

interface WebhookParts {
  /** Telegram sends it with each update. */
  readonly secret: string;
  readonly take: (update: Update) => Promise<void>;
  readonly report: ReportProblem;
}

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A server for Telegram's requests: answers when the update was taken, and 503 when Telegram is to send it again. */
export function webhookServer({ secret, take, report }: WebhookParts): Server {
  const wanted = digestOf(secret);
  const statusOf = async (request: IncomingMessage): Promise<number> => {
    if (request.method !== "POST") return 405;
    const given = request.headers["x-telegram-bot-api-secret-token"];
    if (typeof given !== "string" || !timingSafeEqual(digestOf(given), wanted)) return 401;
    if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) return 415;
    const body = await bodyOf(request);
    if (body === undefined) return 413;
    const update = updateOf(body);
    if (!update) return 400;
    try {
      await take(update);
      return 200;
    } catch (error) {
      report("An update of Telegram could not be taken yet. Telegram sends it again.", error);
      return 503;
    }
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const status = await statusOf(request);
    response.writeHead(status, status === 405 ? { allow: "POST" } : {}).end();
    if (status === 413) request.destroy();
  };
  return createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
}

/** `undefined` for a body over the limit. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > webhookBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function updateOf(body: string): Update | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "update_id" in value && typeof value.update_id === "number"
      ? (value as Update)
      : undefined;
  } catch {
    return undefined;
  }
}
