import type { AgentError } from "@loopwright/core/protocol";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { errorOf } from "../app/notices.ts";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { intervalUnits, requestOf, type ScheduleDraft } from "./schedule-text.ts";

export interface ScheduleFormProps {
  readonly sessionId: string;
  readonly onSet: () => void;
}

type Rhythm = ScheduleDraft["rhythm"];

/** Sets a schedule; one of the same name is replaced. */
export function ScheduleForm({ sessionId, onSet }: ScheduleFormProps): ReactNode {
  const { client } = useServices();
  const [rhythm, setRhythm] = useState<Rhythm>("every");
  const [error, setError] = useState<AgentError>();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form);
    const text = (name: string): string => String(given.get(name) ?? "");
    const draft = {
      input: text("input"),
      rhythm,
      at: text("at"),
      count: Number(text("count")),
      unitMs: Number(text("unitMs")),
      cron: text("cron"),
    };
    setError(undefined);
    client.sessions.schedule(sessionId, text("name").trim(), requestOf(draft, timeZone)).then(
      () => {
        form.reset();
        setRhythm("every");
        onSet();
      },
      (caught: unknown) => setError(errorOf(caught)),
    );
  };
  return (
    <form className="schedule-form" aria-label="New schedule" onSubmit={save}>
      <label>
        Name
        <input className="field" name="name" required maxLength={64} autoComplete="off" placeholder="morning" />
      </label>
      <label>
        What is sent
        <textarea className="field" name="input" required rows={2} />
      </label>
      <RhythmFields rhythm={rhythm} onRhythm={setRhythm} timeZone={timeZone} />
      {error ? <ProblemNote error={error} /> : null}
      <div>
        <button type="submit" className="button primary">
          Set
        </button>
      </div>
    </form>
  );
}

interface RhythmFieldsProps {
  readonly rhythm: Rhythm;
  readonly onRhythm: (rhythm: Rhythm) => void;
  readonly timeZone: string;
}

function RhythmFields({ rhythm, onRhythm, timeZone }: RhythmFieldsProps): ReactNode {
  const id = useId();
  return (
    <>
      <label htmlFor={`${id}-rhythm`}>
        When
        <select id={`${id}-rhythm`} className="field" value={rhythm} onChange={({ target }) => onRhythm(target.value as Rhythm)}>
          <option value="every">Again and again</option>
          <option value="once">Once</option>
          <option value="cron">By a cron expression</option>
        </select>
      </label>
      {rhythm === "every" ? (
        <div className="schedule-pair">
          <label>
            Every
            <input className="field" name="count" type="number" min={1} step={1} required defaultValue={1} />
          </label>
          <label>
            Unit
            <select className="field" name="unitMs" defaultValue={intervalUnits[0].ms}>
              {intervalUnits.map(({ name, ms }) => (
                <option key={name} value={ms}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </div>
      ) : null}
      {rhythm === "cron" ? (
        <label>
          Expression, in {timeZone}
          <input className="field" name="cron" required autoComplete="off" placeholder="0 9 * * 1-5" />
        </label>
      ) : (
        <label>
          {rhythm === "once" ? `At, in ${timeZone}` : `First at, in ${timeZone}; empty: after one interval`}
          <input className="field" name="at" type="datetime-local" required={rhythm === "once"} />
        </label>
      )}
    </>
  );
}
