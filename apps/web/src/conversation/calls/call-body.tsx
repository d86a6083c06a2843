import type { ViewCall, ViewProgress } from "@loopwright/client";
import type { ReactNode } from "react";
import { Icon } from "../../app/icon.tsx";
import { PlainText } from "../markdown/plain-text.tsx";
import { CallAnswerForm } from "./call-answer-form.tsx";
import { outcomeWords } from "./call-words.ts";
import { JsonText, LongText } from "./long-text.tsx";
import { pictureWords, ResultParts } from "./result-parts.tsx";
import type { ShownCall } from "./shown-call.ts";
import { StepIcon } from "./step-icon.tsx";

export interface ShownCallProps {
  readonly shown: ShownCall;
  /** As the view knows it, for a call that can be answered. */
  readonly call?: ViewCall;
}

/** What a call was given, what it does, and what came of it. */
export function CallBody({ shown, call }: ShownCallProps): ReactNode {
  const { args, argsText, progress, written, output, details, state } = shown;
  const words = outcomeWords[state];
  return (
    <div className="call-body">
      {/* The question below shows them where it waits for approval. */}
      {state === "awaiting_approval" ? null : (
        <Part title="Arguments">
          {args ? <JsonText value={args} /> : <LongText text={argsText === undefined || argsText === "" ? "…" : argsText} />}
        </Part>
      )}
      {progress.length > 0 ? (
        <Part title="Steps">
          <Steps steps={progress} />
        </Part>
      ) : null}
      {written !== "" ? (
        <Part title="Output so far">
          <LongText text={written} followsEnd />
        </Part>
      ) : null}
      {state === "awaiting_client" && call ? <Answer call={call} /> : null}
      {words === undefined ? null : <p className="call-outcome">{words}</p>}
      {output.length > 0 ? (
        <Part title={state === "ok" ? "Result" : state === "error" ? "Error" : "What the model read"}>
          <ResultParts parts={output} about={pictureWords(args)} />
        </Part>
      ) : state === "ok" ? (
        <p className="call-outcome">It gave no output.</p>
      ) : null}
      {details === undefined ? null : (
        <Part title="Details">
          <JsonText value={details} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="call-part">
      <p className="call-part-title">{title}</p>
      {children}
    </div>
  );
}

function Answer({ call }: { readonly call: ViewCall }): ReactNode {
  return (
    <Part title="Your answer">
      <CallAnswerForm call={call} />
    </Part>
  );
}

const stepWords = { open: "Under way", done: "Done", failed: "Failed" } as const;

/** The steps that a tool reports. */
function Steps({ steps }: { readonly steps: readonly ViewProgress[] }): ReactNode {
  return (
    <ol className="call-steps">
      {steps.map(({ id, title, state, icon }) => (
        <li key={id} data-state={state}>
          {state === "open" ? <span className="spinner" /> : <Icon name={state === "done" ? "check" : "warning"} />}
          <span className="visually-hidden">{stepWords[state]}: </span>
          <StepIcon icon={icon} />
          <span>
            <PlainText text={title} />
          </span>
        </li>
      ))}
    </ol>
  );
}
