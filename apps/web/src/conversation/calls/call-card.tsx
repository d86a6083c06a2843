import type { ViewCall, ViewMessage } from "@loopwright/client";
import type { ToolCallPart } from "@loopwright/core/protocol";
import { memo, type ReactNode, use, useId } from "react";
import { Icon } from "../../app/icon.tsx";
import { useTrace } from "../../traces/traces-context.ts";
import { ActionsContext } from "../actions-context.ts";
import { durationLabel } from "../amount-labels.ts";
import { ChildTraces } from "../child-traces.tsx";
import { Elapsed } from "../elapsed.tsx";
import { useFold } from "../fold-state.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { VerdictLines } from "../verdict-lines.tsx";
import { ArtifactLine } from "./artifact-line.tsx";
import { CallApproval } from "./call-approval.tsx";
import { CallBody, type ShownCallProps } from "./call-body.tsx";
import { CallIcon } from "./call-icon.tsx";
import { stateWords } from "./call-words.ts";
import { ChildCalls } from "./child-calls.tsx";
import { pictureWords, ResultParts } from "./result-parts.tsx";
import { argsLine, shownCall } from "./shown-call.ts";
import { StepIcon } from "./step-icon.tsx";
import "./calls.css";

export interface CallOfProps {
  readonly part: ToolCallPart;
  readonly call: ViewCall | undefined;
  readonly result: ViewMessage | undefined;
  /** Its number among the calls of its message, from 1, and how many those are. */
  readonly number: number;
  readonly count: number;
}

/** A call of a message. */
export const CallOf = memo(function CallOf({ part, call, result, number, count }: CallOfProps): ReactNode {
  const order = count > 1 ? { order: `Call ${number} of ${count}` } : {};
  return <CallCard shown={shownCall(part, call, result)} {...(call ? { call } : {})} {...order} />;
});

/** The run of a call key, `<runId>.<turn>.<index>`; a call that is being written has none yet. */
const runOf = (key: string): string | undefined => /^(.+)\.\d+\.\d+$/.exec(key)?.[1];

/** A call in one line; what it was given and what came of it on request. */
export function CallCard({ shown, call, order }: ShownCallProps & { readonly order?: string }): ReactNode {
  const [isOpen, setOpen] = useFold(`call/${shown.key}`);
  const { toolLabel } = use(ActionsContext);
  const body = useId();
  const { state, startedAt, durationMs, progress } = shown;
  const line = argsLine(shown);
  // The question below has the reason why a hook asks.
  const isAsked = state === "awaiting_approval";
  const step = state === "running" ? progress.findLast((each) => each.state === "open") : undefined;
  return (
    <div className="call" data-state={state} data-open={isOpen || undefined}>
      <button type="button" className="call-head" aria-expanded={isOpen} aria-controls={body} onClick={() => setOpen(!isOpen)}>
        <CallIcon state={state} />
        <span className="call-title">
          <PlainText text={shown.label ?? toolLabel(shown.name) ?? shown.name} />
        </span>
        <span className="visually-hidden">, {stateWords[state]}, </span>
        <span className="call-line" dir="ltr">
          <PlainText text={line} />
        </span>
        <span className="call-time">
          {state === "running" && startedAt !== undefined ? <Elapsed since={startedAt} /> : null}
          {durationMs === undefined ? null : durationLabel(durationMs)}
        </span>
        <Icon name="chevron" />
      </button>
      {step && !isOpen ? (
        <p className="call-step">
          <StepIcon icon={step.icon} />
          <PlainText text={step.title} />
        </p>
      ) : null}
      {state === "awaiting_client" && call && !isOpen ? (
        <p className="call-waits">
          It waits for an answer from you.
          <button type="button" className="button small" onClick={() => setOpen(true)}>
            Answer
          </button>
        </p>
      ) : null}
      <div id={body} hidden={!isOpen}>
        {isOpen ? <CallBody shown={shown} {...(call ? { call } : {})} /> : null}
      </div>
      {isOpen ? null : <Pictures shown={shown} />}
      <ArtifactLine shown={shown} />
      <CallVerdicts shown={shown} verdicts={call?.verdicts} />
      {isAsked && call ? <CallApproval key={call.callKey} call={call} {...(order === undefined ? {} : { order })} /> : null}
      <ChildCalls callKey={shown.key} />
      <CallChildren name={shown.key} />
    </div>
  );
}

/** Pictures that the tool made, also while the call is folded. */
function Pictures({ shown: { output, args } }: Pick<ShownCallProps, "shown">): ReactNode {
  const pictures = output.filter((part) => part.type === "image");
  return pictures.length === 0 ? null : (
    <div className="call-pictures">
      <ResultParts parts={pictures} about={pictureWords(args)} />
    </div>
  );
}

/** What hooks changed of the call. While a person is asked, the question below has the reason of the hook that asks. */
function CallVerdicts({
  shown,
  verdicts,
}: Pick<ShownCallProps, "shown"> & { readonly verdicts: ViewCall["verdicts"] | undefined }): ReactNode {
  const trace = useTrace(runOf(shown.key));
  const known = verdicts ?? trace?.ofCalls.get(shown.key);
  const isAsked = shown.state === "awaiting_approval";
  return <VerdictLines name={shown.key} verdicts={isAsked ? known?.filter(({ action }) => action !== "ask") : known} />;
}

/** The children that the call has begun. */
function CallChildren({ name }: { readonly name: string }): ReactNode {
  const trace = useTrace(runOf(name));
  return <ChildTraces agents={trace?.agents.filter(({ callKey }) => callKey === name) ?? []} />;
}
