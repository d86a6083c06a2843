import { createClient, type LoopwrightClient } from "@loopwright/client";
import type { ExtensionContext, ExtensionRoute } from "@loopwright/server";
import { AgUiEvents } from "./ag-ui-events.ts";
import { agentRecord, threadWithAgents } from "./agent-record.ts";
import { eventStream } from "./event-stream.ts";
import { threadState } from "./page-state.ts";
import { readRunInput } from "./run-input.ts";
import { refusalOf } from "./run-refused.ts";
import { findThread, recordInput } from "./thread-session.ts";

export interface AgUiOptions {
  /** Below the `basePath` of the server. Default `/ag-ui`. */
  readonly path?: string;
  /**
   * True: the model reads the state that a page sends, as a part of the user's message, where the thread does not have it yet. Default false: the state of a page
   * is not read.
   */
  readonly state?: boolean;
}

/**
 * Routes for pages that speak AG-UI 1.0: `POST /ag-ui/:agent` is the `url` of an `HttpAgent`. `GET /ag-ui/:agent/:thread` has the messages and the state of a thread, and
 * `POST /ag-ui/:agent/:thread/stop` stops its run. Give them to the server as `routes`: its authentication, `authorize` and limits hold for them.
 */
export function agUiRoutes({ path = "/ag-ui", state: hasState = false }: AgUiOptions = {}): readonly ExtensionRoute[] {
  return [
    {
      ...{ method: "POST", path: `${path}/:agent`, id: "ag-ui-run", summary: "A run of an agent as events of AG-UI." },
      ...{ body: "json" },
      handle: answering((client, context) => runAgent(client, context, hasState)),
    },
    {
      ...{
        method: "GET",
        path: `${path}/:agent/:thread`,
        id: "ag-ui-messages",
        summary: "The messages and the state of a thread, as AG-UI has them.",
      },
      handle: answering(async (client, context) => {
        const thread = await findThread(client, threadOf(context));
        if (!thread) return Response.json({ messages: [] });
        return Response.json({ messages: await threadWithAgents({ client, signal: context.signal }, thread), state: threadState(thread) });
      }),
    },
    {
      ...{ method: "POST", path: `${path}/:agent/:thread/stop`, id: "ag-ui-stop", summary: "Stops the run of a thread." },
      handle: answering(async (client, context) => {
        const thread = await findThread(client, threadOf(context));
        return Response.json({ stopping: thread !== undefined && (await client.sessions.abort(thread.sessionId, "user")) });
      }),
    },
  ];
}

type Handler = (client: LoopwrightClient, context: ExtensionContext) => Promise<Response>;

function answering(handler: Handler): ExtensionRoute["handle"] {
  return async (context) => {
    try {
      return await handler(createClient({ url: context.url, fetch: (request) => context.fetch(request) }), context);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

const threadOf = ({ params, principal: { user } }: ExtensionContext) => ({
  ...{ user, agent: params["agent"] ?? "", threadId: params["thread"] ?? "" },
});

/** A page that leaves does not stop the run: it may send the same run again. */
async function runAgent(client: LoopwrightClient, context: ExtensionContext, hasState: boolean): Promise<Response> {
  const input = readRunInput(context.body);
  const { threadId, runId: pageRunId, messages: known, state } = input;
  const { session, ...run } = await recordInput(client, { ...threadOf(context), threadId }, { ...input, hasState });
  const leaving = new AbortController();
  const stream = await client.sessions.stream(session, run.runId, { signal: leaving.signal });
  return eventStream({
    stream,
    events: new AgUiEvents({ threadId, pageRunId, known, ...run, ...(state === undefined ? {} : { state }) }),
    record: (id) => agentRecord({ client, signal: leaving.signal }, id),
    leave: () => leaving.abort(),
  });
}
