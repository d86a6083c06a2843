import { type ReactNode, use, useId } from "react";
import { Icon } from "../app/icon.tsx";
import type { TracedAgent } from "../traces/trace-of.ts";
import { TracesContext, useTrace } from "../traces/traces-context.ts";
import { moneyLabel, tokensIn, tokensLabel } from "./amount-labels.ts";
import { useFold } from "./fold-state.ts";
import { PlainText } from "./markdown/plain-text.tsx";
import "./child-traces.css";

/** The children that hooks of a run have begun. */
export function HookChildren({ runId }: { readonly runId: string | undefined }): ReactNode {
  const agents = useTrace(runId)?.agents.filter(({ callKey }) => callKey === undefined) ?? [];
  return <ChildTraces agents={agents} />;
}

/** Children of a run, a line each, which opens to what the child did: its messages, its calls, and their children again. */
export function ChildTraces({ agents }: { readonly agents: readonly TracedAgent[] }): ReactNode {
  if (agents.length === 0) return null;
  return (
    <ul className="child-traces" aria-label="Agents">
      {agents.map((agent) => (
        <ChildTrace key={agent.session} {...agent} />
      ))}
    </ul>
  );
}

function ChildTrace({ session, agent, isDone, usage, cost }: TracedAgent): ReactNode {
  const [isOpen, setOpen] = useFold(`agent/${session}`);
  const { child } = use(TracesContext);
  const body = useId();
  return (
    <li className="child-trace" data-open={isOpen || undefined}>
      <button type="button" className="child-head" aria-expanded={isOpen} aria-controls={body} onClick={() => setOpen(!isOpen)}>
        {isDone ? <Icon name="timeline" /> : <span className="spinner" />}
        <span className="child-name">
          <span className="visually-hidden">Agent </span>
          <PlainText text={agent} />
        </span>
        <span className="child-state">
          {isDone ? "ended" : "at work"}
          {usage ? ` · ${tokensLabel(tokensIn(usage))} tokens` : ""}
          {cost ? ` · ${moneyLabel(cost)}` : ""}
        </span>
        <Icon name="chevron" />
      </button>
      <div id={body} hidden={!isOpen}>
        {isOpen ? child(session) : null}
      </div>
    </li>
  );
}
