import type { KnownDocument } from "@loopwright/client";
import type { AgentError } from "@loopwright/core/protocol";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { ProblemNote } from "../../app/problem-note.tsx";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";
import { PlainText } from "../../conversation/markdown/plain-text.tsx";

interface Listed {
  readonly documents: readonly KnownDocument[];
  readonly next?: string | undefined;
  readonly error?: AgentError;
}

/** The documents that the agents of the team search, where the server has a knowledge base. */
export function KnowledgeList(): ReactNode {
  const { account, client } = useServices();
  const hasKnowledge = useWatched(account, (access) => access?.extensions?.includes("listKnowledge") ?? false);
  const [listed, setListed] = useState<Listed>();
  const read = useCallback(
    async (before: readonly KnownDocument[] = [], after?: string): Promise<void> => {
      try {
        const page = await client.knowledge(after === undefined ? {} : { after });
        setListed({ documents: [...before, ...page.documents], next: page.next });
      } catch (error) {
        setListed({ documents: before, next: after, error: errorOf(error) });
      }
    },
    [client],
  );
  useEffect(() => {
    if (hasKnowledge) void read();
  }, [hasKnowledge, read]);
  if (!hasKnowledge || !listed) return null;
  return (
    <>
      <h3>Knowledge base</h3>
      {listed.error ? <ProblemNote error={listed.error} /> : null}
      {listed.documents.length === 0 && !listed.error ? <p className="settings-empty">The knowledge base of the team is empty.</p> : null}
      <ul className="settings-cards" aria-label="Knowledge base of the team">
        {listed.documents.map(({ id, title, passageCount }) => (
          <li key={id} className="file-card">
            <span className="file-name">
              <PlainText text={title} />
            </span>
            <span className="settings-hint">{passageCount === 1 ? "1 passage" : `${passageCount} passages`}</span>
          </li>
        ))}
      </ul>
      {listed.next === undefined ? null : (
        <button type="button" className="button small" onClick={() => void read(listed.documents, listed.next)}>
          Show more documents
        </button>
      )}
    </>
  );
}
