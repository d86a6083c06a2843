import type { SessionSummary } from "@loopwright/core/protocol";
import type { ReactNode } from "react";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import { dayGroups } from "./day-groups.ts";
import { SessionRow } from "./session-row.tsx";

export interface SessionGroupsProps {
  readonly currentId: string | undefined;
  readonly onDelete: (session: SessionSummary) => void;
  readonly onFollowed: () => void;
}

/** The conversations by day, or what the search found. */
export function SessionGroups({ currentId, onDelete, onFollowed }: SessionGroupsProps): ReactNode {
  const { list, notices } = useServices();
  const { phase, sessions, hits, hasMoreHits, next, error, query } = useWatched(list, (state) => state);
  const row = (session: SessionSummary, excerpt?: string): ReactNode => (
    <SessionRow
      key={session.id}
      session={session}
      isCurrent={session.id === currentId}
      onDelete={onDelete}
      onFollowed={onFollowed}
      {...(excerpt === undefined ? {} : { excerpt })}
    />
  );

  if (phase === "failed" && error) {
    return (
      <ProblemNote error={error}>
        <button type="button" className="button small" onClick={() => list.refresh()}>
          Try again
        </button>
      </ProblemNote>
    );
  }
  if (hits) {
    return (
      <section aria-label="Search results">
        <p className="list-note" role="status">
          {foundText(hits.length, { query, hasMore: hasMoreHits === true })}
        </p>
        <ul className="session-list">{hits.map(({ session, excerpt }) => row(session, excerpt))}</ul>
      </section>
    );
  }
  if (phase === "ready" && sessions.length === 0) return <p className="list-note">Your conversations will be listed here.</p>;
  return (
    <>
      {dayGroups(sessions, Date.now()).map(({ name, items }) => (
        <section key={name} aria-label={name}>
          <h2 className="list-day">{name}</h2>
          <ul className="session-list">{items.map((session) => row(session))}</ul>
        </section>
      ))}
      {next !== undefined ? (
        <button type="button" className="button small more-button" onClick={() => list.showMore().catch(notices.fail)}>
          Show older
        </button>
      ) : null}
    </>
  );
}

/** What a search found, in one sentence. */
function foundText(count: number, { query, hasMore }: { readonly query: string; readonly hasMore: boolean }): string {
  if (count === 0) return `Nothing found for “${query}”`;
  if (hasMore) return `The best ${count} conversations. There may be more: another word finds fewer.`;
  return count === 1 ? "1 conversation" : `${count} conversations`;
}
