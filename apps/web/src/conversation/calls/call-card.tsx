import type { ViewCall, ViewMessage } from "@loopwright/client";
import type { ToolCallPart } from "@loopwright/core/protocol";
import { memo, type ReactNode, use, useId } from "react";
import { Icon } from "../../app/icon.tsx";
import { ActionsContext } from "../actions-context.ts";
import { durationLabel } from "../amount-labels.ts";
import { Elapsed } from "../elapsed.tsx";
import { useFold } from "../fold-state.ts";
import { PlainText } from "../markdown/plain-text.tsx";
import { VerdictLines } from "../verdict-lines.tsx";
import { CallApproval } from "./call-approval.tsx";
import { CallBody, type ShownCallProps } from "./call-body.tsx";
import { CallIcon } from "./call-icon.tsx";
import { stateWords } from "./call-words.ts";
import { ChildCalls } from "./child-calls.tsx";
import { argsLine, shownCall } from "./shown-call.ts";
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
      <VerdictLines name={shown.key} verdicts={isAsked ? call?.verdicts?.filter(({ action }) => action !== "ask") : call?.verdicts} />
      {isAsked && call ? <CallApproval key={call.callKey} call={call} {...(order === undefined ? {} : { order })} /> : null}
      <ChildCalls callKey={shown.key} />
    </div>
  );
}
