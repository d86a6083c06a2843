import type { ScheduleFiring, SessionSchedule } from "@loopwright/core/protocol";
import { type ReactNode, useCallback } from "react";
import { ProblemNote } from "../app/problem-note.tsx";
import { hashOf } from "../app/route.ts";
import { useServices } from "../app/services.ts";
import { useAnswer } from "../app/use-answer.ts";
import { PlainText } from "../conversation/markdown/plain-text.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { rhythmText, standingTexts } from "./schedule-text.ts";
import "./schedules.css";

const firingsShown = 20;
const dateText = (at: number): string => new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** What is sent to a conversation later, what was sent, and a form for more. */
export function SessionSchedules({ sessionId }: { readonly sessionId: string }): ReactNode {
  const { client, notices } = useServices();
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const [schedules, firings] = await Promise.all([
        client.sessions.schedules(sessionId, { signal }),
        client.sessions.firings(sessionId, { signal }),
      ]);
      return { schedules, firings };
    },
    [client, sessionId],
  );
  const { value, error, reload } = useAnswer(ask);
  if (error && !value) return <ProblemNote error={error} />;
  if (!value)
    return (
      <p role="status">
        <span className="spinner" /> Loading
      </p>
    );
  const remove = (name: string): void => {
    client.sessions.unschedule(sessionId, name).then(() => {
      notices.say("Schedule removed");
      reload();
    }, notices.fail);
  };
  return (
    <div className="schedules">
      {value.schedules.length === 0 ? <p className="dialog-text">Nothing is sent to this conversation later.</p> : null}
      <ul className="schedule-list" aria-label="Schedules">
        {value.schedules.map((schedule) => (
          <ScheduleRow key={schedule.name} schedule={schedule} onRemove={() => remove(schedule.name)} />
        ))}
      </ul>
      <Firings sessionId={sessionId} firings={value.firings} />
      <h3>New schedule</h3>
      <ScheduleForm sessionId={sessionId} onSet={reload} />
    </div>
  );
}

function ScheduleRow({ schedule, onRemove }: { readonly schedule: SessionSchedule; readonly onRemove: () => void }): ReactNode {
  const { name, due, message } = schedule;
  const text =
    typeof message.content === "string"
      ? message.content
      : message.content.flatMap((part) => (part.type === "text" ? part.text : [])).join(" ");
  return (
    <li>
      <div className="schedule-what">
        <strong>
          <PlainText text={name} />
        </strong>
        <p className="schedule-text">
          <PlainText text={text} />
        </p>
        <p className="schedule-when">
          <time dateTime={new Date(due).toISOString()}>{dateText(due)}</time>, {rhythmText(schedule)}
        </p>
      </div>
      <button type="button" className="button small" aria-label={`Remove the schedule ${name}`} onClick={onRemove}>
        Remove
      </button>
    </li>
  );
}

function Firings({ sessionId, firings }: { readonly sessionId: string; readonly firings: readonly ScheduleFiring[] }): ReactNode {
  if (firings.length === 0) return null;
  return (
    <details>
      <summary>What was sent</summary>
      <ul className="schedule-firings" aria-label="What was sent">
        {firings.slice(0, firingsShown).map(({ name, due, runId, status }) => (
          <li key={`${name} ${due}`}>
            <time dateTime={new Date(due).toISOString()}>{dateText(due)}</time> <PlainText text={name} />:{" "}
            {runId === undefined ? (
              standingTexts[status]
            ) : (
              <a href={hashOf({ name: "session", sessionId, runId })}>{standingTexts[status]}</a>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
