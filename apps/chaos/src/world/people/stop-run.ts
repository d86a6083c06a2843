import { post } from "./post.ts";
import type { ReplyOptions } from "./replies.ts";

const namedShare = 0.7;

/** Asks for the end of a run by its name, or of whichever is open. */
export async function stopRun(
  { path, random, acknowledged, surprises, ...who }: ReplyOptions,
  { key, runId }: { readonly key: string; readonly runId: string },
): Promise<void> {
  const named = random() < namedShare ? { runId } : {};
  const written = await post({ ...who, path: `${path}/abort`, body: { reason: key, ...named }, key });
  if (written && written.status !== 202) surprises.push(`abort: ${written.status} ${JSON.stringify(written.body).slice(0, 200)}`);
  // The answer to a second try may mean a run that another abort has stopped: which one is unknown unless the request named it.
  else if (written?.body["aborting"] === true && (written.tries === 1 || "runId" in named))
    acknowledged.push({ what: "abort", key, ...named });
}
