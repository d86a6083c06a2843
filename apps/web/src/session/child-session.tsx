import type { ViewMessage, ViewRun } from "@loopwright/client";
import { textOf } from "@loopwright/core/protocol";
import { type ReactNode, useMemo } from "react";
import { useWatched } from "../app/use-watched.ts";
import { HookChildren } from "../conversation/child-traces.tsx";
import { citedClaimsIn } from "../conversation/citations/cited-report.ts";
import { CompactionLines } from "../conversation/compaction-lines.tsx";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import { keptParts, writtenParts } from "../conversation/messages/answer-parts.tsx";
import { VerdictLines } from "../conversation/verdict-lines.tsx";
import { WaitingAgentsContext } from "../conversation/waiting-agents-context.ts";
import { type Traces, TracesContext, useTrace } from "../traces/traces-context.ts";
import { type FollowedSession, useOpenSession } from "./use-open-session.ts";

/** Messages of a child that are shown; a child with more is read as a conversation of its own. */
const shownMax = 100;
const none: NonNullable<ViewRun["waitingAgents"]> = [];

/** The traces of an open session, and its children as sessions that open in place. */
export function useTraces({ traces }: FollowedSession): Traces {
  return useMemo(() => ({ runs: traces, child: (sessionId) => <ChildSession key={sessionId} sessionId={sessionId} /> }), [traces]);
}

/** What a child does and did, as a part of the conversation of its parent. It is followed as long as it is shown. */
function ChildSession({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useOpenSession(sessionId);
  const traces = useTraces(session);
  const view = useWatched(session, (state) => state.view);
  const phase = useWatched(session, (state) => state.phase);
  const error = useWatched(session, (state) => state.error);
  if (phase === "missing") return <p className="child-session">The session of this agent is not there any more.</p>;
  if (phase === "failed")
    return (
      <p className="child-session">
        What this agent did cannot be read. <PlainText text={error?.message ?? ""} /> {error?.fix}
      </p>
    );
  if (!view)
    return (
      <p className="child-session" role="status">
        Reading what the agent did
      </p>
    );
  const results = view.path.filter(({ message }) => message.role === "tool_result");
  const left = view.path.length - shownMax;
  return (
    <TracesContext value={traces}>
      <WaitingAgentsContext value={view.run?.waitingAgents ?? none}>
        <div className="child-session">
          {left > 0 ? <p className="child-foot">{left} earlier messages are not shown here.</p> : null}
          {view.path.slice(-shownMax).map(({ id, runId, message, verdicts }) => {
            if (message.role === "user")
              return (
                <p key={id} className="child-task">
                  <PlainText text={textOf(message)} />
                </p>
              );
            if (message.role !== "assistant") return null;
            const name = `${sessionId}/${id}`;
            return (
              <div key={id}>
                <Traced {...{ id, name, runId, verdicts }} />
                {keptParts({ name, message, calls: view.calls, results, report: reportOf(results, runId) })}
              </div>
            );
          })}
          {view.answer ? <div>{writtenParts(`${sessionId}/live`, view.answer)}</div> : null}
          <HookChildren runId={view.run?.runId ?? view.path.at(-1)?.runId} />
          {view.run ? <p className="child-foot">At work</p> : null}
          <p className="child-foot">
            <a href={`#/c/${sessionId}`}>Open as a conversation</a>
          </p>
        </div>
      </WaitingAgentsContext>
    </TracesContext>
  );
}

/** The report with citations that a run of the child has written. */
const reportOf = (results: readonly ViewMessage[], runId: string | undefined): ViewMessage | undefined =>
  results.findLast(
    (entry) => entry.runId === runId && entry.message.role === "tool_result" && citedClaimsIn(entry.message.details) !== undefined,
  );

interface TracedProps extends Pick<Parameters<typeof VerdictLines>[0], "name" | "verdicts"> {
  readonly id: string;
  readonly runId: string | undefined;
}

/** What stands above an answer of the child. */
function Traced({ id, name, runId, verdicts }: TracedProps): ReactNode {
  const trace = useTrace(runId);
  return (
    <>
      <CompactionLines compactions={trace?.compactions.get(id)} />
      <VerdictLines name={name} verdicts={verdicts ?? trace?.verdicts.get(id)} />
    </>
  );
}
