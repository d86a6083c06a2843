import { AgentError } from "@loopwright/core";
import { z } from "zod";
import type { ServerContext } from "../server-context.ts";

/** Read-your-writes: `minSeq` is the newest `seq` that the client has seen, perhaps on another node. The answer must not come from an older state. */
export interface MinSeqQuery {
  readonly minSeq?: number | undefined;
}

export const minSeqField: z.ZodType<number | undefined> = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional();

export const minSeqQuery: z.ZodType<MinSeqQuery> = z.object({ minSeq: minSeqField });

/** The interval between two checks. */
const lookMs = 20;

/** Waits until this node has seen the fact. @throws AgentError NODE_BEHIND after `limits.minSeqMs` */
export async function awaitSeq(
  session: { readonly lastSeq: number },
  minSeq: number | undefined,
  { clock, limits }: Pick<ServerContext, "clock" | "limits">,
): Promise<void> {
  if (minSeq === undefined) return;
  const until = clock.monotonic() + limits.minSeqMs;
  while (session.lastSeq < minSeq) {
    if (clock.monotonic() >= until) throw behind(minSeq, session.lastSeq);
    await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
  }
}

export const behind = (minSeq: number, lastSeq: number): AgentError =>
  new AgentError("NODE_BEHIND", {
    message: `The request needs fact ${minSeq}, and this node has read the log up to fact ${lastSeq}.`,
    retryAfterMs: 1_000,
  });
