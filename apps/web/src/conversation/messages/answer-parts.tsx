import type { SessionView, ViewAnswer, ViewMessage } from "@loopwright/client";
import type { AssistantMessage, AssistantPart } from "@loopwright/core/protocol";
import { memo, type ReactNode, useMemo } from "react";
import { CallCard, CallOf } from "../calls/call-card.tsx";
import { writtenCall } from "../calls/shown-call.ts";
import { CitedMarkdown } from "../citations/cited-markdown.tsx";
import { citedClaimsIn } from "../citations/cited-report.ts";
import { MediaPart } from "../media-part.tsx";
import { Thinking } from "./thinking.tsx";

export interface KeptPartsOptions {
  /** Names the fold-outs. */
  readonly name: string;
  readonly message: AssistantMessage;
  readonly calls: SessionView["calls"];
  readonly results: readonly ViewMessage[];
  /** The result that has the report with citations which a text of the message may be. */
  readonly report?: ViewMessage | undefined;
}

/** The parts of a message of the model, in order. */
export function keptParts({ name, message, calls, results, report }: KeptPartsOptions): ReactNode {
  const asked = message.content.filter((part) => part.type === "tool_call");
  return message.content.filter(isShown).map((part, i) => {
    const key = `${name}/${i}`;
    switch (part.type) {
      case "text":
        return <ReportText key={key} name={key} text={part.text} report={report} />;
      case "thinking":
        return <Thinking key={key} name={key} text={part.text} isOpen={false} />;
      case "tool_call":
        return (
          <CallOf
            key={key}
            part={part}
            call={calls.get(part.callKey)}
            result={resultOf(results, part.callKey, part.id)}
            number={asked.indexOf(part) + 1}
            count={asked.length}
          />
        );
      default:
        return <MediaPart key={key} part={part} />;
    }
  });
}

interface ReportTextProps {
  readonly name: string;
  readonly text: string;
  readonly report?: ViewMessage | undefined;
  readonly isWritten?: boolean;
  readonly isOpen?: boolean;
}

/** A text, with the citations of the report that it may be. */
function ReportText({ report, ...text }: ReportTextProps): ReactNode {
  const { message } = report ?? {};
  const details = message?.role === "tool_result" ? message.details : undefined;
  const claims = useMemo(() => citedClaimsIn(details), [details]);
  return <CitedMarkdown {...text} claims={claims} />;
}

type ShownPart = Exclude<AssistantPart, { type: "opaque" }>;

const isShown = (part: AssistantPart): part is ShownPart => part.type !== "opaque";

function resultOf(results: readonly ViewMessage[], callKey: string, id: string): ViewMessage | undefined {
  return results.find(
    ({ message }) => message.role === "tool_result" && (message.callKey ?? message.toolCallId) === (message.callKey ? callKey : id),
  );
}

/** The answer so far, under the names that the message will have. */
export function writtenParts(name: string, answer: ViewAnswer): ReactNode {
  return answer.parts.map((part, i) => {
    const key = `${name}/${i}`;
    switch (part.type) {
      case "text":
        return <ReportText key={key} name={key} text={part.text} isWritten isOpen={!part.ended} />;
      case "thinking":
        return <Thinking key={key} name={key} text={part.text} isOpen={!part.ended} />;
      case "tool_call":
        return <WrittenCall key={key} name={key} toolName={part.toolName} argsText={part.argsText} ended={part.ended} />;
      default:
        return part satisfies never;
    }
  });
}

interface WrittenCallProps {
  readonly name: string;
  readonly toolName: string;
  readonly argsText: string;
  readonly ended: boolean;
}

const WrittenCall = memo(function WrittenCall({ name, toolName, ...part }: WrittenCallProps): ReactNode {
  return <CallCard shown={writtenCall(name, toolName, part)} />;
});
