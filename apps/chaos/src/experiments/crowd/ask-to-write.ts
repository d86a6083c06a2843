import { textOfJob } from "../../world/job.ts";

/** One write that is asked for once. */
export interface WriteWish {
  /** The base URL of a node. */
  readonly base: string;
  readonly session: string;
  readonly key: string;
}

/** In place of a status, if a node did not answer. */
export const noAnswer = 599;

/** What a node answered to one short message. */
export async function askToWrite({ base, session, key }: WriteWish): Promise<{ readonly status: number; readonly code: string }> {
  try {
    const response = await fetch(`${base}/api/sessions/${session}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ message: textOfJob({ id: key, turns: [{ words: 1, gapMs: 0 }] }) }),
      signal: AbortSignal.timeout(10_000),
    });
    const body = (await response.json()) as { readonly code?: string };
    return { status: response.status, code: body.code ?? "" };
  } catch (error) {
    return { status: noAnswer, code: String(error) };
  }
}
