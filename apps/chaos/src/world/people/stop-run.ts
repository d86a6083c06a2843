import { post } from "./post.ts";
import type { ReplyOptions } from "./replies.ts";

const namedShare = 0.7;

/** Asks for the end of a run by its name, or of whichever is open. */
export async function stopRun(
  { path, random, acknowledged, surprises, ...who }: ReplyOptions,
  { key, runId }: { readonly key: string; readonly runId: string },
): Promise<void> {
  const named = random() < namedShare ? { runId } : {};
  const said = await post({ ...who, path: `${path}/abort`, body: { reason: key, ...named }, key });
  if (said && said.status !== 202) surprises.push(`abort: ${said.status} ${JSON.stringify(said.body).slice(0, 200)}`);
  // The answer to a second try may mean a run that another abort has stopped: which one is unknown unless the request named it.
  else if (said?.body["aborting"] === true && (said.tries === 1 || "runId" in named)) acknowledged.push({ what: "abort", key, ...named });
}
