import type { ScopeRetention } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type FormEvent, type ReactNode, useCallback, useId, useState } from "react";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";
import "../providers/providers.css";
import { useAnswer } from "../../app/use-answer.ts";
import { NotThere } from "./figures.tsx";

const dayMs = 86_400_000;
const daysMax = 36_500;
const daysOf = (keepMs: number): number => Math.round((keepMs / dayMs) * 100) / 100;
const daysText = (keepMs: number): string => (daysOf(keepMs) === 1 ? "1 day" : `${daysOf(keepMs)} days`);

/** How long the conversations of the team are kept. Those that administer the team set it. */
export function RetentionSection(): ReactNode {
  const { client } = useServices();
  const id = useId();
  const ask = useCallback((signal: AbortSignal) => client.settings.retention({ signal }), [client]);
  const { value: read, error: unread } = useAnswer(ask);
  const [saved, setSaved] = useState<ScopeRetention>();
  const [isSaved, setIsSaved] = useState(false);
  const [error, setError] = useState<AgentError>();
  const retention = saved ?? read;
  if (!retention)
    return unread ? (
      <NotThere error={unread} what="how long conversations are kept" />
    ) : (
      <p className="settings-loading" role="status">
        <span className="spinner" /> Loading
      </p>
    );
  const save = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const days = String(new FormData(event.currentTarget).get("days") ?? "").trim();
    setError(undefined);
    client.settings.setRetention(days === "" ? null : Math.ceil(Number(days) * dayMs)).then((next) => {
      setSaved(next);
      setIsSaved(true);
    }, setError);
  };
  return (
    <form className="provider-form" aria-label="Retention" onSubmit={save} onChange={() => setIsSaved(false)}>
      <p className="settings-hint">{sentenceOf(retention)}</p>
      {retention.mayChange ? (
        <>
          <label htmlFor={`${id}-days`}>
            Days after the last change; empty: no limit of the team
            <input
              id={`${id}-days`}
              className="field"
              name="days"
              type="number"
              min={1}
              max={daysMax}
              step="any"
              defaultValue={retention.keepMs === undefined ? "" : daysOf(retention.keepMs)}
            />
          </label>
          {error ? <ProblemNote error={error} /> : null}
          <div className="provider-actions">
            <button type="submit" className="button primary">
              Save
            </button>
            <span role="status" className="settings-hint">
              {isSaved ? "Saved. Conversations that are older are erased within minutes." : ""}
            </span>
          </div>
        </>
      ) : null}
    </form>
  );
}

function sentenceOf({ keepMs, deploymentKeepMs }: ScopeRetention): string {
  const shorter = Math.min(keepMs ?? Number.POSITIVE_INFINITY, deploymentKeepMs ?? Number.POSITIVE_INFINITY);
  if (!Number.isFinite(shorter)) return "Conversations of this team are kept.";
  const whose = shorter === keepMs ? "" : " That is a rule of this server.";
  return `Conversations of this team are erased ${daysText(shorter)} after their last change, unless they are under a legal hold.${whose}`;
}
